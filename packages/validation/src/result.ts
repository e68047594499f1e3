/**
 * Validation of an execution's result (HAL 1.2 IExecutionCallback.notify_1_2), for callers of a driver or of the engine behind one. The
 * result is untrusted: it is read once, and copied to plain data.
 */
import { byteSize, elementAt, type NamedFacts } from "@nnhal/operations";
import { ErrorStatus, errorStatusNames, type OutputShape } from "@nnhal/types";
import { type Issue, show, showDimensions } from "./issues.ts";
import { greatestSize } from "./operand.ts";
import type { RuleCode } from "./rules.ts";
import { isObject, isUint32 } from "./structure.ts";

/** The facts of one output before the execution. */
export interface ExpectedOutput {
  /** The facts of its type. Undefined: a type of an unknown extension; only the dimensions are checked. */
  readonly facts: NamedFacts | undefined;
  /** The dimensions of model and request combined; an extent of 0 is unknown, and so is the rank of a tensor without extents. */
  readonly dimensions: readonly number[];
  /** True if the request omits the output: it can have any shape, and need not be sufficient. Default: false. */
  readonly isOmitted?: boolean;
  /** Bytes available for the output. Default: any number. */
  readonly available?: number;
}

/** The part of an answer that is checked here. */
export interface CheckedResult {
  readonly status: ErrorStatus;
  /** Only if the status is not NONE. */
  readonly message?: string;
  /** One for each output if the status is NONE or OUTPUT_INSUFFICIENT_SIZE, else none. */
  readonly outputShapes: readonly OutputShape[];
}

/** Options of checking a result. */
export interface ResultValidationOptions {
  /**
   * True if NONE may come without shapes, as drivers may answer if all dimensions were known before. The known shapes
   * then apply. Default: false.
   */
  readonly mayOmitShapes?: boolean;
}

const noShapes: readonly OutputShape[] = [];

/**
 * Checks the answer to an execution (rules 67 – 71): the answer as plain data, or the first rule that it breaks. Shapes that come
 * with another status than NONE and OUTPUT_INSUFFICIENT_SIZE are left out. Never throws, whatever the answer is.
 */
export function checkResult(
  result: unknown,
  outputs: readonly ExpectedOutput[],
  { mayOmitShapes = false }: ResultValidationOptions = {},
): CheckedResult | { readonly issue: Issue } {
  try {
    return check(result, outputs, mayOmitShapes);
  } catch (error) {
    return makeIssue("structure", "result", `reading it failed: ${show(error)}`);
  }
}

function makeIssue(code: RuleCode, path: string, message: string): { readonly issue: Issue } {
  return { issue: { code, path, message } };
}

function check(
  result: unknown,
  outputs: readonly ExpectedOutput[],
  mayOmitShapes: boolean,
): CheckedResult | { readonly issue: Issue } {
  if (!isObject(result)) return makeIssue("structure", "result", `the result is ${show(result)}`);
  // Every field is read once, since a later read may return another value.
  const { status, message, outputShapes } = result as { status?: unknown; message?: unknown; outputShapes?: unknown };
  if (!isStatus(status)) return makeIssue("result-status", "status", `the status is ${show(status)}`);
  const said = status !== ErrorStatus.NONE && typeof message === "string" ? { message } : undefined;
  if (status !== ErrorStatus.NONE && status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) {
    return { status, ...said, outputShapes: noShapes };
  }
  const name = errorStatusNames.get(status);
  if (!Array.isArray(outputShapes) || outputShapes.length !== outputs.length) {
    const isOmitted = outputShapes === undefined || (Array.isArray(outputShapes) && outputShapes.length === 0);
    if (mayOmitShapes && status === ErrorStatus.NONE && isOmitted && outputs.every(isKnown)) {
      return { status, outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })) };
    }
    const what = Array.isArray(outputShapes) ? `${outputShapes.length} shapes` : show(outputShapes);
    return makeIssue(
      "result-shape-count",
      "outputShapes",
      `${name} comes with ${what} where there are ${outputs.length} outputs`,
    );
  }
  const shapes: OutputShape[] = new Array(outputs.length);
  let isShort = false;
  for (let index = 0; index < outputs.length; index++) {
    const output = elementAt(outputs, index);
    const shape = checkShape(outputShapes[index], output, index);
    if ("issue" in shape) return shape;
    if (!shape.isSufficient && !output.isOmitted) {
      if (status === ErrorStatus.NONE) {
        return makeIssue(
          "result-sufficient",
          `outputShapes[${index}]`,
          `NONE comes with isSufficient false for output ${index}`,
        );
      }
      isShort = true;
    }
    shapes[index] = shape;
  }
  if (status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE && !isShort) {
    return makeIssue("result-sufficient", "outputShapes", `${name} comes with isSufficient true for every output`);
  }
  return said === undefined ? { status, outputShapes: shapes } : { status, ...said, outputShapes: shapes };
}

function isStatus(status: unknown): status is ErrorStatus {
  return typeof status === "number" && errorStatusNames.has(status);
}

/** One shape of an answer, as plain data. */
function checkShape(shape: unknown, output: ExpectedOutput, index: number): OutputShape | { readonly issue: Issue } {
  if (!isObject(shape))
    return makeIssue("structure", pathOf(index, ""), `the shape of output ${index} is ${show(shape)}`);
  const { dimensions: given, isSufficient } = shape as { dimensions?: unknown; isSufficient?: unknown };
  if (typeof isSufficient !== "boolean") {
    const problem = `isSufficient of output ${index}: expected a boolean, got ${show(isSufficient)}`;
    return makeIssue("structure", pathOf(index, ".isSufficient"), problem);
  }
  // A list longer than any tensor's rank is refused before its extents are read.
  if (!Array.isArray(given) || given.length > greatestRank) {
    return makeIssue("structure", pathOf(index, ".dimensions"), `the dimensions of output ${index} are ${show(given)}`);
  }
  // A shape that equals the known one needs no further checks, except of its size.
  if (isAsKnown(given, output)) return checkSize({ dimensions: output.dimensions, isSufficient }, output, index);
  const dimensions: number[] = [];
  for (let axis = 0; axis < given.length; axis++) {
    const extent: unknown = given[axis];
    if (!isUint32(extent)) {
      const problem = `extent ${axis} of output ${index}: expected an integer >= 0, got ${show(extent)}`;
      return makeIssue("structure", pathOf(index, ".dimensions"), problem);
    }
    dimensions.push(extent);
  }
  if (!fits(dimensions, output)) {
    const declared = `${output.facts?.name ?? "operand"} ${showDimensions(output.dimensions)}`;
    const problem = `output ${index} has dimensions ${showDimensions(dimensions)} where a ${declared} is declared`;
    return makeIssue("result-dimensions", pathOf(index, ".dimensions"), problem);
  }
  return checkSize({ dimensions, isSufficient }, output, index);
}

/** Returns the shape, or an issue if it takes more bytes than are available. */
function checkSize(shape: OutputShape, output: ExpectedOutput, index: number): OutputShape | { readonly issue: Issue } {
  const { dimensions, isSufficient } = shape;
  const size = output.facts === undefined ? 0 : byteSize(output.facts, dimensions);
  const available = isSufficient ? (output.available ?? greatestSize) : greatestSize;
  if (size <= available) return shape;
  const problem = `output ${index} ${showDimensions(dimensions)} takes ${size} bytes where ${available} are there`;
  return makeIssue("result-size", pathOf(index, ".dimensions"), problem);
}

/** Returns whether dimensions are fully known and equal to those given. */
function isAsKnown(given: readonly unknown[], { facts, isOmitted, dimensions: known }: ExpectedOutput): boolean {
  if (given.length !== known.length || known.length === 0 || isOmitted) return false;
  if (facts !== undefined && facts.kind !== "tensor") return false;
  for (let axis = 0; axis < known.length; axis++) if (given[axis] !== known[axis] || known[axis] === 0) return false;
  return true;
}

function pathOf(index: number, field: string): string {
  return `outputShapes[${index}]${field}`;
}

/** Greatest rank of a valid shape. */
const greatestRank = 64;

/** Returns whether a shape agrees with all known extents. */
function fits(dimensions: readonly number[], { facts, isOmitted, dimensions: known }: ExpectedOutput): boolean {
  if (isOmitted) return true;
  if (facts !== undefined && facts.kind !== "tensor") return dimensions.length === 0;
  if (known.length === 0) return true;
  if (dimensions.length !== known.length) return false;
  for (let axis = 0; axis < known.length; axis++) {
    if (known[axis] !== 0 && dimensions[axis] !== known[axis]) return false;
  }
  return true;
}

function isKnown({ facts, isOmitted, dimensions }: ExpectedOutput): boolean {
  if (isOmitted) return true;
  if (dimensions.includes(0)) return false;
  return dimensions.length > 0 || (facts !== undefined && facts.kind !== "tensor");
}
