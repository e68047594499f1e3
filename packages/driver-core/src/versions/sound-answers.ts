/**
 * Readers for answers of foreign drivers and devices: each field is read once and checked. Readers throw for answers
 * that break a rule of the HAL; the message continues a sentence that begins with the method.
 */
import { type ExtensionDefinition, factsIn, vocabularyOf } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionResult,
  type IBuffer,
  type IBurstContext,
  type IFencedExecutionCallback,
  MeasureTiming,
  type Model,
  type Operand,
  type Request,
  type SyncFence,
  type Timing,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { broken, checkResult, type ExpectedOutput, hasFields, type UncheckedFields } from "@nnhal/validation";

/** The fields of an answer whose outcome has been read. */
export function fieldsOf(answer: unknown): UncheckedFields {
  return hasFields(answer) ? answer : {};
}

/** Whether a value is an object with some methods. */
export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  return hasFields(value) && methods.every((method) => typeof value[method] === "function");
}

/** The operands of a model's outputs; undefined for an index that the model does not have. */
export function outputOperands({ main }: Model): (Operand | undefined)[] {
  return main.outputIndexes.map((index) => main.operands[index]);
}

/**
 * What is known about the outputs of a request before it runs. `model`: undefined if it came from a cache. `extensions`: those
 * whose types are known. Throws for a request that cannot be read.
 */
export function expectedOutputs(
  model: Model | undefined,
  { outputs }: Request,
  extensions?: readonly ExtensionDefinition[],
): ExpectedOutput[] {
  const operands = model === undefined ? [] : outputOperands(model);
  const factsOf = factsIn(vocabularyOf(model?.extensionNameToPrefix ?? [], { extensions }));
  return outputs.map(({ hasNoValue, dimensions }, position) => {
    const operand = operands[position];
    if (operand === undefined || hasNoValue) return { facts: undefined, dimensions, isOmitted: hasNoValue };
    const known = dimensions.length > 0 ? dimensions : operand.dimensions;
    return { facts: factsOf(operand.type), dimensions: known };
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
  if ("issue" in checked) return broken(`answered a result that is not valid: ${checked.issue.message}`);
  const timing = hasFields(answer) ? answer.timing : undefined;
  const isTimed = checked.status === ErrorStatus.NONE && measure === MeasureTiming.YES && isTiming(timing);
  return { ...checked, timing: isTimed ? timing : notMeasured };
}

export function isTiming(value: unknown): value is Timing {
  return hasFields(value) && typeof value.timeOnDevice === "bigint" && typeof value.timeInDriver === "bigint";
}

export function isFence(value: unknown): value is SyncFence {
  return hasMethods(value, "wait") && hasFields(value) && typeof value.state === "string";
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
