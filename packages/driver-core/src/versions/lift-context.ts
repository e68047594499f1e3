/**
 * What the parts of a lifted device share, and how models and settings are checked before an older driver sees them.
 */
import {
  ErrorStatus,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
  type V1_0,
} from "@nnhal/types";
import { describeNeed, hasDeadlinePassed, unmetNeeds } from "@nnhal/utils";
import { modelIssues, type OperationLookup } from "@nnhal/validation";
import { formatIssues } from "../device/format-issues.ts";
import type { LogSink } from "./callback.ts";
import { failure, invalid } from "./callback.ts";
import { refuseQuality } from "./face-context.ts";
import type { AnswerLimits, AnswerOptions } from "./in-time.ts";
import type { OldDriver } from "./old-driver.ts";

/** How to lift a driver. */
export interface LiftOptions extends AnswerOptions {
  /** Definitions of operations, by which models are validated. Default: the HAL's own. */
  readonly operations?: OperationLookup | undefined;
  /** Where warnings go, such as of what a conversion lost. Default: nowhere. */
  readonly log?: LogSink | undefined;
  /** Whether executions are, since HAL 1.2, synchronous calls rather than launches with a callback. Default: true. */
  readonly synchronous?: boolean | undefined;
  /** Whether a slice that turns out invalid is a failure, for finding faults. Default: nothing of it is supported. */
  readonly strictSlicing?: boolean | undefined;
}

/** See the file's head. */
export interface LiftContext {
  readonly name: string;
  readonly driver: OldDriver;
  readonly operations: OperationLookup | undefined;
  readonly log: LogSink;
  readonly synchronous: boolean;
  readonly strictSlicing: boolean;
  readonly limits: AnswerLimits;
  /** When an answer with a deadline is not waited for any longer: a driver of HAL 1.3 keeps deadlines itself. */
  readonly waitUntil: (deadline: bigint | undefined) => bigint | undefined;
  /** The driver's own objects behind the prepared models of this device. */
  readonly preparedModels: WeakMap<PreparedModel, V1_0.IPreparedModel>;
}

/** What makes a model invalid, before it is converted for an older driver. One of HAL 1.3 checks it itself. */
export function refuseModelForDriver(model: Model, { driver, operations }: LiftContext): Outcome | undefined {
  if (driver.version === "1.3") return undefined;
  const issues = modelIssues(model, { mode: "runtime", ...(operations && { operations }) });
  return issues.length > 0 ? invalid(`the model is not valid: ${formatIssues(issues)}`) : undefined;
}

/** Why a model is not given to an older driver to prepare: it would not understand the call or the model. */
export function refusePreparation(
  model: Model,
  { preference = 0, priority = 0, deadline }: PrepareOptions,
  context: LiftContext,
): Outcome | undefined {
  const { name, driver, limits } = context;
  if (driver.version === "1.3") return undefined;
  const refusal = refuseQuality(preference, priority) ?? refuseModelForDriver(model, context);
  if (refusal !== undefined) return refusal;
  const [first, ...others] = unmetNeeds(model, driver.version);
  if (first !== undefined) {
    const more = others.length > 0 ? `, and ${others.length} more` : "";
    return failure(`${name} is of HAL ${driver.version}`, `${describeNeed(first)}${more}`);
  }
  if (!hasDeadlinePassed(deadline, limits.now())) return undefined;
  const message = "the deadline had passed before the model was prepared";
  return { status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message };
}
