/**
 * HAL 1.1: 1.0, with nine more operations, float32 that may be computed as float16, and preferences. Operands, requests,
 * prepared models and callbacks are those of 1.0.
 */
import type { PerformanceInfo } from "./capabilities.ts";
import type { ExecutionPreference } from "./enums.ts";
import type { Model as CanonicalModel } from "./model.ts";
import { operationTypes } from "./operation-type.ts";
import type { Awaitable } from "./outcome.ts";
import { codesOf, tableAt } from "./table.ts";
import type * as V1_0 from "./v1-0.ts";

export { ExecutionPreference } from "./enums.ts";
export * from "./v1-0.ts";

/** The operations of HAL 1.1. */
export const OperationType = codesOf(tableAt(operationTypes, "1.1"));

/** Performance of a device. */
export interface Capabilities extends V1_0.Capabilities {
  /** Of operations on float32 values in a model that lets them be computed as float16. */
  readonly relaxedFloat32toFloat16Performance: PerformanceInfo;
}

/** A model of one graph. */
export interface Model extends V1_0.Model, Pick<CanonicalModel, "relaxComputationFloat32toFloat16"> {}

/** A device. */
export interface IDevice extends V1_0.IDevice {
  /** As `getCapabilities`. */
  getCapabilities_1_1(): V1_0.Outcome & { readonly capabilities: Capabilities };
  /** As `getSupportedOperations`. */
  getSupportedOperations_1_1(
    model: Model,
  ): Awaitable<V1_0.Outcome & { readonly supportedOperations: readonly boolean[] }>;
  /** As `prepareModel`, by `callback.notify`. INVALID_ARGUMENT also: `preference` is not an ExecutionPreference. */
  prepareModel_1_1(
    model: Model,
    preference: ExecutionPreference,
    callback: V1_0.IPreparedModelCallback | null,
  ): V1_0.Outcome;
}
