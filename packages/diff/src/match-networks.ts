/**
 * Which tensors of two forms of one network stand for each other: those of a float network and of its quantised form, say. Their operations
 * are aligned in order; names, kinds and shapes say which fit.
 */
import { elementAt, sameShape } from "@nnhal/operations";
import { type Model, type Operation, OperationType } from "@nnhal/types";

/** A network with the names of its tensors. */
export interface NamedModel {
  readonly model: Model;
  /** By operand of the main subgraph; undefined: it has none. */
  readonly operandNames: readonly (string | undefined)[];
}

/** Operations that only change how elements are held, which one of two forms has more of. */
const conversions: ReadonlySet<number> = new Set([
  OperationType.QUANTIZE,
  OperationType.DEQUANTIZE,
  OperationType.CAST,
]);

/** The most pairs of operations that are compared: 4,000 by 4,000. */
const MOST_PAIRS = 16_000_000;

/**
 * Returns, for operands of `one`, the operand of `other` that stands for it: the inputs of both in order, and the results of operations that
 * are aligned. Throws a RangeError if the inputs are not alike, or if there are too many operations.
 */
export function matchNetworks(one: NamedModel, other: NamedModel): ReadonlyMap<number, number> {
  const matched = new Map<number, number>();
  const [inputs, others] = [one.model.main.inputIndexes, other.model.main.inputIndexes];
  if (inputs.length !== others.length)
    throw new RangeError(`expected two networks with as many inputs, got ${inputs.length} and ${others.length}`);
  for (const [place, operand] of inputs.entries()) {
    const [here, there] = [shapeOf(one, operand), shapeOf(other, elementAt(others, place))];
    if (!sameShape(here, there))
      throw new RangeError(
        `expected two networks whose inputs have the same shapes, got [${here}] and [${there}] for input ${place}`,
      );
    matched.set(operand, elementAt(others, place));
  }
  for (const [operation, counterpart] of alignOperations(one, other)) {
    for (const [place, operand] of operation.outputs.entries()) {
      const stands = elementAt(counterpart.outputs, place);
      if (sameShape(shapeOf(one, operand), shapeOf(other, stands))) matched.set(operand, stands);
    }
  }
  return matched;
}

/** The pairs of operations that fit, in the order of both, with the greatest sum of fits. */
function alignOperations(one: NamedModel, other: NamedModel): (readonly [Operation, Operation])[] {
  const [rows, columns] = [listKept(one), listKept(other)];
  if (rows.length * columns.length > MOST_PAIRS)
    throw new RangeError(
      `expected networks of at most ${MOST_PAIRS} pairs of operations, got ${rows.length} and ${columns.length} operations`,
    );
  const width = columns.length + 1;
  // The best sum from each pair of places to the ends.
  const best = new Uint32Array((rows.length + 1) * width);
  const fits = new Uint8Array(rows.length * columns.length);
  for (let row = rows.length - 1; row >= 0; row--) {
    for (let column = columns.length - 1; column >= 0; column--) {
      const fit = fitOf(one, elementAt(rows, row), other, elementAt(columns, column));
      fits[row * columns.length + column] = fit;
      const without = Math.max(elementAt(best, (row + 1) * width + column), elementAt(best, row * width + column + 1));
      const together = fit === 0 ? 0 : fit + elementAt(best, (row + 1) * width + column + 1);
      best[row * width + column] = Math.max(without, together);
    }
  }
  const pairs: (readonly [Operation, Operation])[] = [];
  let [row, column] = [0, 0];
  while (row < rows.length && column < columns.length) {
    const sum = elementAt(best, row * width + column);
    const fit = elementAt(fits, row * columns.length + column);
    if (fit > 0 && sum === fit + elementAt(best, (row + 1) * width + column + 1)) {
      pairs.push([elementAt(rows, row), elementAt(columns, column)]);
      row++;
      column++;
    } else if (sum === elementAt(best, (row + 1) * width + column)) row++;
    else column++;
  }
  return pairs;
}

function listKept({ model }: NamedModel): readonly Operation[] {
  return model.main.operations.filter(({ type }) => !conversions.has(type));
}

/** 0: they cannot stand for each other. More: they fit better; names decide before kinds. */
function fitOf(one: NamedModel, operation: Operation, other: NamedModel, counterpart: Operation): number {
  const [output, stands] = [operation.outputs[0], counterpart.outputs[0]];
  if (output === undefined || stands === undefined || operation.outputs.length !== counterpart.outputs.length) return 0;
  if (!sameShape(shapeOf(one, output), shapeOf(other, stands))) return 0;
  const name = one.operandNames[output];
  const isNamed = name !== undefined && name !== "" && name === other.operandNames[stands];
  const isAlike = operation.type === counterpart.type;
  return isNamed ? (isAlike ? 9 : 8) : isAlike ? 1 : 0;
}

function shapeOf({ model }: NamedModel, operand: number): readonly number[] {
  return elementAt(model.main.operands, operand).dimensions;
}
