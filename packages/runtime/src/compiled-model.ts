/**
 * The view that executions, bursts and memory descriptors have of a compilation. A leaf file: the class and these users import
 * it, not each other.
 */
import type { ExecuteOptions, ExecutionResult, Model as HalModel, PreparedModel, Request } from "@nnhal/types";
import type { Logger, Tracer } from "@nnhal/utils";
import type { Abandoned } from "./bounds.ts";
import type { GuardedDevice } from "./guard/device.ts";
import type { GuardedModel } from "./guard/prepared-model.ts";
import type { OperandFacts } from "./operand-facts.ts";
import type { Divided } from "./plan/divide.ts";

/** The executor of a request: a prepared model, or a burst on one. */
export interface Executing {
  execute(request: Request, options: ExecuteOptions): Promise<ExecutionResult & Abandoned>;
}

/** The target of an execution. */
export interface ExecutionTarget {
  readonly preparedModel: PreparedModel;
  /** The prepared model of the device that has the whole model; absent if no device has it, or if steps are observed. */
  readonly whole?: GuardedModel;
  /** True if a failed execution may run again on the CPU. */
  readonly canFallBack: boolean;
}

/** See the file's head. Getters throw BAD_STATE before `finish`, except `isFinished` and those of the model. */
export interface CompiledModel {
  readonly isFinished: boolean;
  /** The model in the HAL's form. */
  readonly hal: HalModel;
  /** The current target of executions. */
  readonly executable: ExecutionTarget;
  /** Returns the target, which lives until `giveBack` even if the compilation is closed. */
  lend(): ExecutionTarget;
  giveBack(): void;
  /** True if the compilation is for an explicit list of devices, so that no execution falls back. */
  readonly isExplicit: boolean;
  /** The devices that run parts of the model. */
  readonly usedDevices: readonly GuardedDevice[];
  /** See `Divided.rolesOf`. */
  readonly rolesOf: Divided["rolesOf"];
  /** Facts of an operand type of the model; undefined if it is unknown. */
  factsOf(type: number): OperandFacts | undefined;
  /** Throws BAD_DATA unless the compilation is for one explicit device, as Android requires for some calls. */
  expectOneExplicitDevice(what: string): void;
  readonly log: Logger;
  readonly trace: Tracer;
  /** The steady clock of timeouts, in nanoseconds. */
  readonly now: () => bigint;
}
