/**
 * Judging an execution's outputs: the rules of the vectors' README.
 */
import { elementAt, formatShape, sameShape } from "@nnhal/operations";
import type { OperandTypeName, OutputShape } from "@nnhal/types";
import { readElements } from "./elements.ts";
import type { Allowance, Example } from "./example.ts";
import { findDistributionProblem } from "./multinomial.ts";
import { toleranceOf } from "./tolerance.ts";

/**
 * Describes the first difference between the expected and the actual outputs; undefined if there is none. `bytesOf`
 * returns the bytes of an output's buffer.
 */
export function findDifference(
  example: Example,
  outputShapes: readonly OutputShape[],
  bytesOf: (output: number) => Uint8Array,
): string | undefined {
  const { main, expectedMultinomialDistributionTolerance } = example;
  if (outputShapes.length !== main.outputIndexes.length) {
    return `the answer has ${outputShapes.length} output shapes, the model ${main.outputIndexes.length} outputs`;
  }
  for (const [output, index] of main.outputIndexes.entries()) {
    const { isIgnored, dimensions, type, data, allowance } = elementAt(main.operands, index);
    if (isIgnored) continue;
    const label = `${writerOf(example, index)} output ${output}`;
    const shape = elementAt(outputShapes, output);
    if (!sameShape(shape.dimensions, dimensions)) {
      return `${label}: expected shape ${formatShape(dimensions)}, actual ${formatShape(shape.dimensions)}`;
    }
    if (!shape.isSufficient) return `${label}: the buffer is called too small, although the execution succeeded`;
    if (data === null || expectedMultinomialDistributionTolerance > 0) continue;
    const actual = bytesOf(output).subarray(0, data.length);
    const difference = findElementDifference(type, dimensions, data, actual, allowance ?? toleranceOf(example, type));
    if (difference !== undefined) return `${label} ${difference}`;
  }
  return expectedMultinomialDistributionTolerance > 0 ? findDistributionProblem(example, bytesOf) : undefined;
}

/** The operation that writes an operand of the main subgraph. */
function writerOf({ main }: Example, operand: number): string {
  return main.operations.find(({ outputs }) => outputs.includes(operand))?.type ?? "the model's";
}

function findElementDifference(
  type: OperandTypeName,
  dimensions: readonly number[],
  expectedBytes: Uint8Array,
  actualBytes: Uint8Array,
  { absolute, relative, anyUnusual = false }: Allowance,
): string | undefined {
  const expected = readElements(type, expectedBytes);
  const actual = readElements(type, actualBytes);
  let first = -1;
  let count = 0;
  for (let index = 0; index < expected.length; index++) {
    const wanted = elementAt(expected, index);
    const found = actual[index];
    if (Number.isFinite(wanted)) {
      // Written so that a NaN is a difference, and so is an element that is missing.
      if (Math.abs(wanted - (found ?? Number.NaN)) <= absolute + relative * Math.abs(wanted)) continue;
    } else if (found !== undefined && (anyUnusual || Object.is(found, wanted))) continue;
    if (first < 0) first = index;
    count++;
  }
  if (first < 0) return undefined;
  const bound = absolute + relative * Math.abs(elementAt(expected, first));
  const position = dimensions.length > 1 ? ` [${positionOf(first, dimensions).join(", ")}]` : "";
  return (
    `element ${first}${position}: expected ${expected[first]}, actual ${actual[first]}, ` +
    `${bound === 0 || Number.isNaN(bound) ? "where none may differ" : `where ${Number(bound.toPrecision(3))} is allowed`}; ` +
    `${count} of ${expected.length} elements differ`
  );
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
