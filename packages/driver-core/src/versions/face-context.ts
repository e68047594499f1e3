/** The shared part of a device's faces: checks of arguments, and answers for older callers. */
import type { ExtensionDefinition } from "@nnhal/operations";
import {
  DeviceType,
  ErrorStatus,
  type HalVersion,
  isAidl,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareResult,
  type Request,
  type V1_0,
} from "@nnhal/types";
import {
  hasFields,
  modelIssues,
  readOutcome,
  requestIssues,
  validateExecutionPreference,
  validatePriority,
} from "@nnhal/validation";
import { hasMethods } from "../guard/answers.ts";
import { closeSafely } from "../guard/attempt.ts";
import { formatIssues } from "../guard/format-issues.ts";
import { invalid } from "../guard/refusal.ts";
import type { AnswerLimits, AnswerOptions, LogSink } from "../guard/wait.ts";
import type { AnyModel, AnyRequest } from "./convert/any.ts";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_3 } from "./convert/v1-3.ts";
import type { Facts } from "./facts.ts";

/** Options for presenting a device. */
export interface FaceOptions extends AnswerOptions {
  /** Extensions by whose definitions models are validated. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /**
   * Receives diagnostics that a HAL signature cannot carry: why a call failed, or the values that a conversion lost. Default:
   * none.
   */
  readonly log?: LogSink | undefined;
}

/** See the file's head. `Presented`: the face of a prepared model. */
export interface FaceContext<Presented extends object> {
  readonly extensions: readonly ExtensionDefinition[] | undefined;
  readonly log: LogSink;
  /** Names the device in messages. */
  readonly name: string;
  /** The device's facts. */
  readonly facts: Facts;
  readonly limits: AnswerLimits;
  /** The face of a prepared model. `source`: the model that it was prepared from; undefined if it came from a cache. */
  present(preparedModel: PreparedModel, source: PreparedSource | undefined): Presented;
}

/** The source of a prepared model. */
export interface PreparedSource {
  readonly model: Model;
  /** The version of the method that prepared it. */
  readonly version: HalVersion;
}

/** Returns why a model is not valid for a HAL version. Throws if it cannot be read. */
export function refuseModel(
  model: AnyModel,
  version: HalVersion,
  { extensions }: FaceContext<object>,
): Outcome | undefined {
  // A driver of HIDL can require known sizes in a WHILE; a device that does refuses the model itself.
  const mode = isAidl(version) ? "driver" : "runtime";
  const options = { version, mode, ...(extensions && { extensions }) } as const;
  const issues = modelIssues(convertToV1_3.model(model), options);
  return issues.length > 0 ? invalid(`the model is not valid: ${formatIssues(issues)}`) : undefined;
}

/** Returns why a preference or priority is not valid. */
export function refuseQuality(preference: number, priority?: number): Outcome | undefined {
  if (!validateExecutionPreference(preference))
    return invalid(`the execution preference: expected 0, 1 or 2, got ${preference}`);
  if (priority !== undefined && !validatePriority(priority))
    return invalid(`the priority: expected 0, 1 or 2, got ${priority}`);
  return undefined;
}

/** Returns why a request is not valid for a method of a HAL version. Throws if it cannot be read. */
export function refuseRequest(
  request: AnyRequest,
  version: HalVersion,
  source: PreparedSource | undefined,
): Outcome | undefined {
  const canonical: Request = convertToV1_3.request(request);
  // For a model from a cache, the device checks the request itself.
  if (source === undefined) return undefined;
  const issues = requestIssues(canonical, source.model, {
    version: version > source.version ? version : source.version,
    // Before HAL 1.2, answers have no shapes.
    allowUnspecifiedOutput: version >= "1.2",
  });
  return issues.length > 0 ? invalid(`the request is not valid: ${formatIssues(issues)}`) : undefined;
}

/** Not null if and only if status is NONE. Throws for an answer that breaks a rule. */
export function soundPrepareResult(result: PrepareResult, limits: AnswerLimits): PrepareResult {
  const outcome = readOutcome(result);
  const { preparedModel } = result;
  if (outcome.status === ErrorStatus.NONE) {
    if (!hasMethods(preparedModel, "execute")) throw new Error("the device answered NONE without a prepared model");
    return { ...outcome, preparedModel };
  }
  if (hasFields(preparedModel)) closeSafely(preparedModel, limits.log);
  return { ...outcome, preparedModel: null };
}

/** Maps a status to one of HAL 1.0 – 1.2. */
export function narrow(status: ErrorStatus): V1_0.ErrorStatus {
  return convertToV1_0.errorStatus(status).value;
}

/** Maps an outcome to a status of HAL 1.0 – 1.2. */
export function narrowOutcome({ status, message }: Outcome): V1_0.Outcome {
  return { status: narrow(status), ...(message !== undefined && { message }) };
}

/** Maps a type to one of HAL 1.2. */
export function narrowType(type: number): DeviceType {
  return Object.values(DeviceType).find((known) => known === type) ?? DeviceType.OTHER;
}
