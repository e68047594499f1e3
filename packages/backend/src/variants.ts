/**
 * Executables that are compiled for fixed extents: one variant for the extents of the model, or, if it leaves some open, one for each of the
 * last few requests with other extents.
 */
import { isTensorType, sameShape } from "@nnhal/operations";
import type { InputBuffer } from "./contract.ts";
import type { GraphView } from "./graph.ts";

/** The most variants that an executable keeps. */
const mostVariants = 4;

/** The extents of the inputs, if the model determines all of them. */
export function staticExtents({
  inputs,
  operands,
}: Pick<GraphView, "inputs" | "operands">): (readonly number[])[] | undefined {
  const all: (readonly number[])[] = [];
  for (const index of inputs) {
    const operand = operands[index];
    if (operand === undefined) return undefined;
    const { type, dimensions } = operand;
    if (isTensorType(type) && (dimensions.length === 0 || dimensions.includes(0))) return undefined;
    all.push(dimensions);
  }
  return all;
}

/** True if an input of a request has these extents; undefined: it is omitted. */
export function hasExtents(input: InputBuffer | undefined, extents: readonly number[] | undefined): boolean {
  if (input === undefined || extents === undefined) return input === extents;
  return sameShape(extents, input.dimensions);
}

/** Adds a variant. Returns the oldest one, which is no longer kept, if there are too many. */
export function addVariant<Variant>(variants: Variant[], variant: Variant): Variant | undefined {
  variants.push(variant);
  return variants.length > mostVariants ? variants.shift() : undefined;
}
