/**
 * What the faces of a device share: how arguments are checked, and how answers are made fit for older callers.
 */
import {
  DeviceType,
  ErrorStatus,
  type HalVersion,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareResult,
  type Request,
  type V1_0,
} from "@nnhal/types";
import { type AnyModel, type AnyRequest, convertToV1_0, convertToV1_3 } from "@nnhal/utils";
import {
  modelIssues,
  type OperationLookup,
  requestIssues,
  validateExecutionPreference,
  validatePriority,
} from "@nnhal/validation";
import { formatIssues } from "../device/format-issues.ts";
import { invalid, type LogSink } from "./callback.ts";
import type { AnswerLimits, AnswerOptions } from "./in-time.ts";
import { hasMethods, isRecord, outcomeOf } from "./sound-answers.ts";
import type { Facts } from "./sound-facts.ts";
import { quietly } from "./sound-prepared-model.ts";

/** How to present a device. */
export interface FaceOptions extends AnswerOptions {
  /** Definitions of operations, by which models are validated. Default: the HAL's own. */
  readonly operations?: OperationLookup | undefined;
  /** Where goes what HAL callers are not told: why a call failed, what a conversion lost. Default: nowhere. */
  readonly log?: LogSink | undefined;
}

/** See the file's head. `Presented`: the face of a prepared model. */
export interface FaceContext<Presented extends V1_0.IPreparedModel> {
  readonly operations: OperationLookup | undefined;
  readonly log: LogSink;
  /** Names the device in messages. */
  readonly name: string;
  /** What the device says of itself. */
  readonly facts: Facts;
  readonly limits: AnswerLimits;
  /** The face of a prepared model. `source`: the model that it was prepared from; undefined: one from a cache. */
  present(preparedModel: PreparedModel, source: PreparedSource | undefined): Presented;
}

/** What a prepared model was made from. */
export interface PreparedSource {
  readonly model: Model;
  /** The version of the method that prepared it. */
  readonly version: HalVersion;
}

/** What makes a model invalid for a HAL version. Throws where it cannot be read. */
export function refuseModel(
  model: AnyModel,
  version: HalVersion,
  { operations }: FaceContext<V1_0.IPreparedModel>,
): Outcome | undefined {
  // A driver may want to know all sizes in a WHILE; the device itself says so where it does.
  const options = { version, mode: "runtime", ...(operations && { operations }) } as const;
  const issues = modelIssues(convertToV1_3.model(model), options);
  return issues.length > 0 ? invalid(`the model is not valid: ${formatIssues(issues)}`) : undefined;
}

/** What makes a preference or priority invalid. */
export function refuseQuality(preference: number, priority?: number): Outcome | undefined {
  if (!validateExecutionPreference(preference)) return invalid(`the execution preference is ${preference}`);
  if (priority !== undefined && !validatePriority(priority)) return invalid(`the priority is ${priority}`);
  return undefined;
}

/** What makes a request invalid for a method of a HAL version. Throws where it cannot be read. */
export function refuseRequest(
  request: AnyRequest,
  version: HalVersion,
  source: PreparedSource | undefined,
): Outcome | undefined {
  const canonical: Request = convertToV1_3.request(request);
  // The device has the model of a cache, and checks the request itself.
  if (source === undefined) return undefined;
  const issues = requestIssues(canonical, source.model, {
    version: version > source.version ? version : source.version,
    // Before HAL 1.2 no answer tells the shapes.
    allowUnspecifiedOutput: version >= "1.2",
  });
  return issues.length > 0 ? invalid(`the request is not valid: ${formatIssues(issues)}`) : undefined;
}

/** A prepared model exactly if status is NONE. Throws for an answer that breaks a rule. */
export function soundPrepareResult(result: PrepareResult, limits: AnswerLimits): PrepareResult {
  const outcome = outcomeOf(result);
  const { preparedModel } = result;
  if (outcome.status === ErrorStatus.NONE) {
    if (!hasMethods(preparedModel, "execute")) throw new Error("the device answers no prepared model");
    return { ...outcome, preparedModel };
  }
  if (isRecord(preparedModel)) quietly(() => preparedModel.close(), "closing a prepared model", limits);
  return { ...outcome, preparedModel: null };
}

/** A status that HAL 1.0 – 1.2 know. */
export function narrow(status: ErrorStatus): V1_0.ErrorStatus {
  return convertToV1_0.errorStatus(status).value;
}

/** An outcome whose status HAL 1.0 – 1.2 know. */
export function narrowOutcome({ status, message }: Outcome): V1_0.Outcome {
  return { status: narrow(status), ...(message !== undefined && { message }) };
}

/** A type that HAL 1.2 knows. */
export function narrowType(type: number): DeviceType {
  return Object.values(DeviceType).find((known) => known === type) ?? DeviceType.OTHER;
}
