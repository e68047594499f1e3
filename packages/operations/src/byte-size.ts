/**
 * The bytes of an operand type's value in a pool. The facts of a type are a row of `operandTypes`, or an extension's declaration.
 */
import type { OperandTypeRow } from "@nnhal/types";
import { elementAt } from "./element-at.ts";

/** The facts of a type that determine the size of a value, beside its dimensions. */
export type ElementFacts = Pick<OperandTypeRow, "kind" | "elementSize">;

/**
 * Returns whether the rank or an extent of a tensor is unspecified: no dimensions, or an extent of 0. False for other
 * kinds.
 */
export function isUnspecified({ kind }: Pick<OperandTypeRow, "kind">, dimensions: readonly number[]): boolean {
  return kind === "tensor" && (dimensions.length === 0 || dimensions.includes(0));
}

/**
 * Bytes of a value: an extent of 0 means no elements, no dimensions mean one element. Infinity if the product is beyond the
 * numbers.
 */
export function byteSize({ elementSize }: ElementFacts, dimensions: readonly number[]): number {
  let size = elementSize;
  // Called several times for each execution: an iterator would be garbage.
  for (let axis = 0; axis < dimensions.length; axis++) size *= elementAt(dimensions, axis);
  // Infinity * 0.
  return Number.isNaN(size) ? 0 : size;
}

/** Bytes of an operand of a model or request; undefined if its dimensions are not fully specified. */
export function specifiedByteSize(facts: ElementFacts, dimensions: readonly number[]): number | undefined {
  return isUnspecified(facts, dimensions) ? undefined : byteSize(facts, dimensions);
}
