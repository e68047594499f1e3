/**
 * The answer of a device to an execution, read once and checked against the request and the model. A reader throws `broken` for
 * an answer that breaks a rule.
 */
import { elementAt, factsByCode } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionResult,
  type Extension,
  type HalVersion,
  type Model,
  type OutputShape,
  type Request,
  TIMING_NOT_MEASURED,
  type Timing,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { broken, hasFields, readOutcome, show } from "@nnhal/validation";
import { greatestSize, refines } from "../operand-facts.ts";

/** Facts of an output before an execution. */
interface KnownOutput {
  readonly dimensions: readonly number[];
  /** Bytes of an element; undefined for OEM scalars, and types that neither the HAL nor the device describes. */
  readonly elementSize: number | undefined;
  readonly isTensor: boolean;
}

/** How to read the answers of one prepared model. */
export interface AnswerReader {
  /** `isBurst`: the answer is a burst's, which can leave out known shapes (HAL 1.2 notify_1_2). */
  read(answer: unknown, request: Request, isBurst?: boolean): ExecutionResult;
}

/**
 * The reader for a prepared model. `model`: its model; undefined: outputs are known from requests only.
 * Drivers older than HAL 1.2 answer no shapes: the known ones are used. `extensions`: as the device describes them.
 */
export function answerReader(
  model: Model | undefined,
  halVersion: HalVersion,
  extensions: readonly Extension[] = [],
): AnswerReader {
  const factsOf = factsByCode(model?.extensionNameToPrefix ?? [], extensions);
  const outputs = model?.main.outputIndexes.map((index): KnownOutput => {
    const { type, dimensions } = elementAt(model.main.operands, index);
    const facts = factsOf(type);
    if (facts === undefined) return { dimensions, elementSize: undefined, isTensor: dimensions.length > 0 };
    const { kind, elementSize } = facts;
    return { dimensions, elementSize: elementSize > 0 ? elementSize : undefined, isTensor: kind === "tensor" };
  });
  return {
    // Called for each execution of each step: an answer that keeps the rules is read without closures.
    read(answer, request, isBurst = false) {
      const outcome = readOutcome(answer);
      const { status } = outcome;
      const { outputShapes, timing } = fieldsOf(answer);
      const isDone = status === ErrorStatus.NONE;
      if (!isDone && status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) {
        return { ...outcome, outputShapes: [], timing: notMeasured };
      }
      if (!Array.isArray(outputShapes)) return broken(`answered outputShapes that are ${show(outputShapes)}`);
      const count = request.outputs.length;
      const areKnown = isDone && outputShapes.length === 0 && count > 0;
      if (areKnown && !isBurst && halVersion >= "1.2") return broken("answered NONE without output shapes");
      if (!areKnown && outputShapes.length !== count) {
        const name = isDone ? "NONE" : "OUTPUT_INSUFFICIENT_SIZE";
        return broken(`answered ${name} with ${outputShapes.length} output shapes for ${count} outputs`);
      }
      const shapes: OutputShape[] = [];
      let isShort = false;
      for (let index = 0; index < count; index++) {
        const { hasNoValue, dimensions } = elementAt(request.outputs, index);
        const known = outputs?.[index] ?? undescribed;
        // The request refines the model. An omitted output is not checked.
        const expected = hasNoValue ? undefined : dimensions.length > 0 ? dimensions : known.dimensions;
        const shape = areKnown
          ? knownShape(index, known, expected)
          : shapeOf(outputShapes[index], index, known, expected, isDone);
        if (!shape.isSufficient) isShort = true;
        shapes.push(shape);
      }
      if (isDone) return { status, outputShapes: shapes, timing: timingOf(timing) };
      if (!isShort) return broken("answered OUTPUT_INSUFFICIENT_SIZE with outputs that are all sufficient");
      return { ...outcome, outputShapes: shapes, timing: notMeasured };
    },
  };
}

/** Facts of an output of an unknown model. */
const undescribed: KnownOutput = { dimensions: [], elementSize: undefined, isTensor: true };

function fieldsOf(answer: unknown): { readonly outputShapes?: unknown; readonly timing?: unknown } {
  return hasFields(answer) ? answer : {};
}

function knownShape(index: number, { isTensor }: KnownOutput, expected: readonly number[] | undefined): OutputShape {
  if (expected === undefined) return { dimensions: [], isSufficient: true };
  if (isTensor && (expected.length === 0 || expected.includes(0))) {
    return broken(`answered NONE without output shapes, while output ${index} has dimensions [${expected}]`);
  }
  return { dimensions: expected, isSufficient: true };
}

function shapeOf(
  shape: unknown,
  index: number,
  known: KnownOutput,
  expected: readonly number[] | undefined,
  isDone: boolean,
): OutputShape {
  if (!hasFields(shape)) return broken(`answered ${show(shape)} as the shape of output ${index}`);
  const { dimensions, isSufficient } = shape;
  if (typeof isSufficient !== "boolean") {
    return broken(`answered isSufficient ${show(isSufficient)} for output ${index}`);
  }
  if (isDone && !isSufficient && expected !== undefined) {
    return broken(`answered NONE, but that output ${index} is not sufficient`);
  }
  // The known dimensions are the caller's own: they do not change with the answer.
  if (expected !== undefined && isAsKnown(dimensions, expected)) return { dimensions: expected, isSufficient };
  if (!isExtents(dimensions)) return broken(`answered dimensions of output ${index} that are ${listed(dimensions)}`);
  if (expected === undefined) return { dimensions: [...dimensions], isSufficient };
  const { elementSize = 0, isTensor } = known;
  if (!isTensor && elementSize > 0 && dimensions.length > 0) {
    return broken(`answered dimensions [${dimensions}] for output ${index}, which is a scalar`);
  }
  if (!refines(dimensions, expected)) {
    return broken(`answered dimensions [${dimensions}] for output ${index} where [${expected}] is known`);
  }
  const size = dimensions.reduce((bytes, extent) => bytes * extent, elementSize);
  if (size > greatestSize) return broken(`answered a size of ${size} bytes for output ${index}`);
  return { dimensions: [...dimensions], isSufficient };
}

/** Whether dimensions equal the known ones, none of which is 0. */
function isAsKnown(dimensions: unknown, expected: readonly number[]): boolean {
  if (!Array.isArray(dimensions) || dimensions.length !== expected.length || expected.length === 0) return false;
  for (let axis = 0; axis < expected.length; axis++) {
    if (dimensions[axis] !== expected[axis] || expected[axis] === 0) return false;
  }
  return true;
}

function isExtents(value: unknown): value is readonly number[] {
  if (!Array.isArray(value)) return false;
  for (let axis = 0; axis < value.length; axis++) {
    const extent: unknown = value[axis];
    if (typeof extent !== "number" || extent >>> 0 !== extent) return false;
  }
  return true;
}

function listed(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(show)}]` : show(value);
}

/** Durations; unknown ones for a value that is not a pair of durations. */
export function timingOf(timing: unknown): Timing {
  if (timing === notMeasured || !hasFields(timing)) return notMeasured;
  const { timeOnDevice, timeInDriver } = timing;
  if (timeOnDevice === TIMING_NOT_MEASURED && timeInDriver === TIMING_NOT_MEASURED) return notMeasured;
  return isTime(timeOnDevice) && isTime(timeInDriver) ? { timeOnDevice, timeInDriver } : notMeasured;
}

function isTime(time: unknown): time is bigint {
  return typeof time === "bigint" && time >= 0n;
}
