/**
 * Readers for answers of foreign drivers and devices: each field is read once and checked. Readers throw for answers
 * that break a rule of the HAL; the message continues a sentence that begins with the method.
 */
import {
  type Capabilities,
  ErrorStatus,
  type ExecutionResult,
  type Extension,
  type IBuffer,
  type IBurstContext,
  type IFencedExecutionCallback,
  MAX_NUMBER_OF_CACHE_FILES,
  MeasureTiming,
  type Model,
  type Operand,
  type Outcome,
  operandTypeNames,
  type Request,
  type SyncFence,
  type Timing,
} from "@nnhal/types";
import { isErrorStatus, notMeasured } from "@nnhal/utils";
import { capabilitiesIssues, checkResult, type ExpectedOutput, extensionIssues, show } from "@nnhal/validation";
import { formatIssues } from "../device/format-issues.ts";

/** An answer before it is read. */
type Answer = Readonly<Record<string, unknown>>;

/** An answer that has fields, and its outcome. */
export function answerOf(answer: unknown): Answer & Outcome {
  if (!isRecord(answer)) throw new Error(`it answered ${show(answer)} where an object with a status is needed`);
  const { status, message } = answer;
  if (!isErrorStatus(status)) throw new Error(`it answered status ${show(status)}, which is not an ErrorStatus`);
  const { status: _status, message: _message, ...fields } = answer;
  return status === ErrorStatus.NONE || typeof message !== "string"
    ? { ...fields, status }
    : { ...fields, status, message };
}

/** The outcome of an answer. */
export function outcomeOf(answer: unknown): Outcome {
  const { status, message } = answerOf(answer);
  return { status, ...(message !== undefined && { message }) };
}

export function isRecord(value: unknown): value is Answer {
  return typeof value === "object" && value !== null;
}

/** Whether a value is an object with some methods. */
export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  return isRecord(value) && methods.every((method) => typeof value[method] === "function");
}

export function capabilitiesOf(value: unknown): Capabilities {
  // The check accepts any value.
  const capabilities = value as Capabilities;
  const issues = capabilitiesIssues(capabilities);
  if (issues.length > 0) throw new Error(`it answered capabilities that are not valid: ${formatIssues(issues)}`);
  return capabilities;
}

export function extensionsOf(value: unknown): readonly Extension[] {
  // The check accepts any value.
  const extensions = value as readonly Extension[];
  const issues = extensionIssues(extensions);
  if (issues.length > 0) throw new Error(`it answered extensions that are not valid: ${formatIssues(issues)}`);
  return extensions;
}

/** A number of cache files. */
export function cacheFileCount(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_NUMBER_OF_CACHE_FILES)
    return value;
  throw new Error(`it answered ${field} ${show(value)} where 0 to ${MAX_NUMBER_OF_CACHE_FILES} is needed`);
}

/** The list of supported operations. */
export function supportedOf(value: unknown, operations: number): readonly boolean[] {
  if (!Array.isArray(value) || value.length !== operations) {
    const what = Array.isArray(value) ? `${value.length} answers` : show(value);
    throw new Error(`it answered ${what} about ${operations} operations`);
  }
  return Array.from(value, (supported) => supported === true);
}

/** The operands of a model's outputs; undefined for an index that the model does not have. */
export function outputOperands({ main }: Model): (Operand | undefined)[] {
  return main.outputIndexes.map((index) => main.operands[index]);
}

/**
 * What is known about the outputs of a request before it runs. `model`: undefined if it came from a cache. Throws for a
 * request that cannot be read.
 */
export function expectedOutputs(model: Model | undefined, { outputs }: Request): ExpectedOutput[] {
  const operands = model === undefined ? [] : outputOperands(model);
  return outputs.map(({ hasNoValue, dimensions }, position) => {
    const operand = operands[position];
    if (operand === undefined || hasNoValue) return { type: undefined, dimensions };
    const known = dimensions.length > 0 ? dimensions : operand.dimensions;
    return { type: operandTypeNames.get(operand.type), dimensions: known };
  });
}

/** How to read the result of an execution. */
export interface ExecutionReading {
  readonly measure: MeasureTiming | undefined;
  readonly mayOmitShapes: boolean;
}

/** The result of an execution. Times are left out unless they were asked for. Throws for an answer that breaks a rule. */
export function executionOf(
  answer: unknown,
  outputs: readonly ExpectedOutput[],
  { measure, mayOmitShapes }: ExecutionReading,
): ExecutionResult {
  const checked = checkResult(answer, outputs, { mayOmitShapes });
  if ("issue" in checked) throw new Error(`its answer is not valid: ${checked.issue.message}`);
  const timing = isRecord(answer) ? answer.timing : undefined;
  const isTimed = checked.status === ErrorStatus.NONE && measure === MeasureTiming.YES && isTiming(timing);
  return { ...checked, timing: isTimed ? timing : notMeasured };
}

export function isTiming(value: unknown): value is Timing {
  return isRecord(value) && typeof value.timeOnDevice === "bigint" && typeof value.timeInDriver === "bigint";
}

export function isFence(value: unknown): value is SyncFence {
  return hasMethods(value, "wait") && isRecord(value) && typeof value.state === "string";
}

export function isFencedCallback(value: unknown): value is IFencedExecutionCallback {
  return hasMethods(value, "getExecutionInfo");
}

export function isBurstContext(value: unknown): value is IBurstContext {
  return hasMethods(value, "freeMemory");
}

export function isBuffer(value: unknown): value is IBuffer {
  return hasMethods(value, "copyTo", "copyFrom");
}
