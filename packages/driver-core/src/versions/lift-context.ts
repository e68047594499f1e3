/** The shared part of a lifted device, and the checks of models and settings before an older driver gets them. */
import type { ExtensionDefinition } from "@nnhal/operations";
import {
  type AidlVersion,
  ErrorStatus,
  type HalVersion,
  isAidl,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
} from "@nnhal/types";
import { hasDeadlinePassed } from "@nnhal/utils";
import { modelIssues } from "@nnhal/validation";
import { refuseUnreadable } from "../guard/attempt.ts";
import { formatIssues } from "../guard/format-issues.ts";
import { failure, invalid } from "../guard/refusal.ts";
import type { AnswerLimits, AnswerOptions, LogSink } from "../guard/wait.ts";
import type { BootClockOptions } from "./aidl/time.ts";
import { modelLosses } from "./aidl/write.ts";
import { aidlNeed, describeNeed, unmetNeeds } from "./compliance/needs.ts";
import { refuseQuality } from "./face-context.ts";
import type { OldDriver } from "./old-driver.ts";

/** Options for lifting a driver. */
export interface LiftOptions extends AnswerOptions, BootClockOptions {
  /** Extensions by whose definitions models are validated. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /** Receives warnings, such as values that a conversion lost. Default: none. */
  readonly log?: LogSink | undefined;
  /** True if executions, since HAL 1.2, are synchronous calls rather than launches with a callback. Default: true. */
  readonly synchronous?: boolean | undefined;
  /** If true, an invalid slice is a failure, to find faults. Default: false; its operations are not supported. */
  readonly strictSlicing?: boolean | undefined;
}

/** See the file's head. `Own`: the driver's prepared models. */
export interface LiftContext<Own extends object = object> {
  readonly name: string;
  readonly driver: OldDriver<Own>;
  readonly extensions: readonly ExtensionDefinition[] | undefined;
  readonly log: LogSink;
  readonly synchronous: boolean;
  readonly strictSlicing: boolean;
  readonly limits: AnswerLimits;
  /** When the wait for an answer with a deadline ends: a driver of HAL 1.3 enforces deadlines itself. */
  readonly waitUntil: (deadline: bigint | undefined) => bigint | undefined;
  /** The driver's own objects behind the prepared models of this device. */
  readonly preparedModels: WeakMap<PreparedModel, Own>;
}

/**
 * Returns why a model is not valid, before it is converted for a driver. A driver of HAL 1.3 checks it itself.
 */
export function refuseModelForDriver(model: Model, { driver, extensions }: LiftContext): Outcome | undefined {
  return driver.version === "1.3" ? undefined : refuseInvalid(model, extensions);
}

function refuseInvalid(model: Model, extensions: LiftContext["extensions"]): Outcome | undefined {
  const issues = modelIssues(model, { mode: "runtime", ...(extensions && { extensions }) });
  return issues.length > 0 ? invalid(`the model is not valid: ${formatIssues(issues)}`) : undefined;
}

/** Returns why a driver of HAL 1.3 or AIDL is not given a model. */
function refuseNewer(model: Model, version: HalVersion, name: string): Outcome | undefined {
  if (isAidl(version)) return refuseInexpressible(model, version, name);
  const need = aidlNeed(model);
  return need && inexpressible(name, version, describeNeed(need), 0);
}

/** Returns why an older driver cannot prepare a model: its version lacks the call or a part of the model. */
export function refusePreparation(
  model: Model,
  { preference = 0, priority = 0, deadline }: PrepareOptions,
  context: LiftContext,
): Outcome | undefined {
  const { name, driver, limits } = context;
  // A driver of HAL 1.3 checks everything itself, and lacks only what AIDL adds; one of AIDL checks everything else.
  if (driver.version === "1.3" || isAidl(driver.version)) {
    const refusal = refuseUnreadable(() => refuseNewer(model, driver.version, name));
    // A model that no version can express may break a rule: then the answer says which.
    return refusal && (refuseInvalid(model, context.extensions) ?? refusal);
  }
  const refusal = refuseQuality(preference, priority) ?? refuseModelForDriver(model, context);
  if (refusal !== undefined) return refusal;
  const [first, ...others] = unmetNeeds(model, driver.version);
  if (first !== undefined) return inexpressible(name, driver.version, describeNeed(first), others.length);
  if (!hasDeadlinePassed(deadline, limits.now())) return undefined;
  const message = "the deadline had passed before the model was prepared";
  return { status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message };
}

/** Returns why a version of AIDL cannot express a model. */
function refuseInexpressible(model: Model, version: AidlVersion, name: string): Outcome | undefined {
  const [first, ...others] = modelLosses(model, version).filter(({ harmless }) => !harmless);
  return first && inexpressible(name, version, first.message, others.length);
}

function inexpressible(name: string, version: HalVersion, first: string, others: number): Outcome {
  return failure(`${name} is of HAL ${version}: ${first}${others > 0 ? `, and ${others} more` : ""}`);
}
