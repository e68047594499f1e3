/**
 * Judging an execution's outputs: the rules of the vectors' README.
 */
import { elementAt, formatShape, sameShape } from "@nnhal/operations";
import type { OperandTypeName, OutputShape } from "@nnhal/types";
import { type Deviation, deviationOf } from "../deviation.ts";
import { readElements } from "./elements.ts";
import type { Allowance, Example } from "./example.ts";
import { findDistributionProblem } from "./multinomial.ts";
import { toleranceOf } from "./tolerance.ts";

/** Result of a comparison of outputs. */
export interface Comparison {
  /** The first difference that is not allowed; undefined if there is none. */
  readonly difference: string | undefined;
  /** The greatest part of its allowance that an element uses up, as `CaseResult.error`; undefined if none was compared. */
  readonly error: number | undefined;
  /** Of each output that was compared, in order, up to one with a difference. */
  readonly deviations: readonly Deviation[];
}

/** Describes the first difference between the expected and the actual outputs; undefined if there is none. */
export function findDifference(...given: Parameters<typeof compareOutputs>): string | undefined {
  return compareOutputs(...given).difference;
}

/** Compares the expected with the actual outputs. `bytesOf` returns the bytes of an output's buffer. */
export function compareOutputs(
  example: Example,
  outputShapes: readonly OutputShape[],
  bytesOf: (output: number) => Uint8Array,
): Comparison {
  const { main, expectedMultinomialDistributionTolerance } = example;
  const deviations: Deviation[] = [];
  const different = (difference: string): Comparison => ({ difference, error: undefined, deviations });
  if (outputShapes.length !== main.outputIndexes.length) {
    return different(
      `the answer has ${outputShapes.length} output shapes, the model ${main.outputIndexes.length} outputs`,
    );
  }
  let worst: number | undefined;
  for (const [output, index] of main.outputIndexes.entries()) {
    const { isIgnored, dimensions, type, data, allowance } = elementAt(main.operands, index);
    if (isIgnored) continue;
    const label = `${writerOf(example, index)} output ${output}`;
    const shape = elementAt(outputShapes, output);
    if (!sameShape(shape.dimensions, dimensions)) {
      return different(`${label}: expected shape ${formatShape(dimensions)}, got ${formatShape(shape.dimensions)}`);
    }
    if (!shape.isSufficient)
      return different(`${label}: the buffer is called too small, although the execution succeeded`);
    if (data === null || expectedMultinomialDistributionTolerance > 0) continue;
    const actual = bytesOf(output).subarray(0, data.length);
    const found = compareElements(type, dimensions, data, actual, allowance ?? toleranceOf(example, type));
    deviations.push(found.deviation);
    worst = Math.max(worst ?? 0, found.error ?? 0);
    if (found.difference !== undefined) return { difference: `${label} ${found.difference}`, error: worst, deviations };
  }
  const difference =
    expectedMultinomialDistributionTolerance > 0 ? findDistributionProblem(example, bytesOf) : undefined;
  return { difference, error: worst, deviations };
}

/** The operation that writes an operand of the main subgraph. */
function writerOf({ main }: Example, operand: number): string {
  return main.operations.find(({ outputs }) => outputs.includes(operand))?.type ?? "the model's";
}

function compareElements(
  type: OperandTypeName,
  dimensions: readonly number[],
  expectedBytes: Uint8Array,
  actualBytes: Uint8Array,
  allowance: Allowance,
): { readonly difference: string | undefined; readonly error: number; readonly deviation: Deviation } {
  const expected = readElements(type, expectedBytes);
  const actual = readElements(type, actualBytes);
  const boundOf = boundsOf(allowance, expected);
  let first = -1;
  let count = 0;
  for (let index = 0; index < expected.length; index++) {
    const wanted = elementAt(expected, index);
    const found = actual[index];
    const bound = boundOf(index);
    if (bound === null && found !== undefined) continue;
    if (Number.isFinite(wanted)) {
      const distance = Math.abs(wanted - (found ?? Number.NaN));
      // Written so that a NaN is a difference, and so is an element that is missing.
      if (distance <= (bound ?? 0)) continue;
    } else if (found !== undefined && (allowance.anyUnusual || Object.is(found, wanted))) continue;
    if (first < 0) first = index;
    count++;
  }
  const deviation = deviationOf(type, expected, actual, boundOf);
  const { error } = deviation;
  if (first < 0) return { difference: findMeanDifference(expected, actual, allowance), error, deviation };
  const bound = boundOf(first) ?? 0;
  const position = dimensions.length > 1 ? ` [${positionOf(first, dimensions).join(", ")}]` : "";
  const difference =
    `element ${first}${position}: expected ${expected[first]}, got ${actual[first]}, ` +
    `${bound === 0 || Number.isNaN(bound) ? "without an allowance" : `with an allowance of ${Number(bound.toPrecision(3))}`}; ` +
    `${count} of ${expected.length} elements differ`;
  return { difference, error, deviation };
}

/** Returns the allowance of each element; null: it is not compared. */
function boundsOf(
  { absolute, relative, elements }: Allowance,
  expected: Float64Array,
): (element: number) => number | null {
  if (elements !== undefined) return (element) => elements[element] ?? null;
  return (element) => absolute + relative * Math.abs(elementAt(expected, element));
}

/** The bias and the mean square error of all elements that are finite and compared. */
function findMeanDifference(
  expected: Float64Array,
  actual: Float64Array,
  { elements, bias, meanSquare }: Allowance,
): string | undefined {
  if (bias === undefined && meanSquare === undefined) return undefined;
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (let index = 0; index < expected.length; index++) {
    const wanted = elementAt(expected, index);
    if (elements?.[index] === null || !Number.isFinite(wanted)) continue;
    const difference = elementAt(actual, index) - wanted;
    count++;
    sum += difference;
    squares += difference * difference;
  }
  if (count === 0) return undefined;
  const show = (name: string, actually: number, allowed: number) =>
    `the ${name} of ${count} elements: expected at most ${Number(allowed.toPrecision(3))}, got ${Number(actually.toPrecision(3))}`;
  if (bias !== undefined && Math.abs(sum / count) > bias) return show("bias", sum / count, bias);
  if (meanSquare !== undefined && squares / count > meanSquare) {
    return show("mean square error", squares / count, meanSquare);
  }
  return undefined;
}

function positionOf(element: number, dimensions: readonly number[]): number[] {
  let rest = element;
  return dimensions
    .toReversed()
    .map((extent) => {
      const coordinate = rest % extent;
      rest = Math.floor(rest / extent);
      return coordinate;
    })
    .reverse();
}
