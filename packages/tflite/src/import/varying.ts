/**
 * Shapes of values that come from several subgraphs: the branches of an IF, or the steps of a WHILE. .tflite resizes such a value to what
 * the subgraph that ran has made of it.
 */
import { elementAt } from "@nnhal/operations";

/** The mark of an extent that is not the same each time. */
export const VARIES = -1;

/** Extents of a value, of which some may be unknown (0) or vary (-1). */
export type Varying = readonly number[];

/** Known part of the shape of a value that has one of two shapes of the same rank. */
export function eitherShape(a: Varying, b: Varying): Varying {
  return a.map((extent, i) => {
    const other = elementAt(b, i);
    if (extent === other) return extent;
    return extent === 0 || other === 0 ? 0 : VARIES;
  });
}

/**
 * The shape with the extents that the file says (`declared`, 0 where it leaves them open) in place of unknown ones. Those that vary are not
 * what the file says.
 */
export function withDeclared(shape: Varying, declared: readonly number[]): Varying {
  return shape.map((extent, i) => (extent === 0 ? (declared[i] ?? 0) : extent));
}

/** The extents of an operand: those that vary are unknown. */
export function operandExtents(shape: Varying): readonly number[] {
  return shape.map((extent) => Math.max(extent, 0));
}
