/** The size of a value in the memory of an engine. */
import { type AnyOperandType, byteSize, elementFactsOf, specifiedByteSize } from "@nnhal/operations";

/**
 * Bytes of a value of a type; undefined if the shape is not fully known, and for the OEM scalar, which has any size. `isValue`: an extent
 * of 0 is not unknown, but 0.
 */
export function sizeOf(type: AnyOperandType, dimensions: readonly number[], isValue = false): number | undefined {
  if (type === "OEM") return undefined;
  const facts = elementFactsOf(type);
  return isValue ? byteSize(facts, dimensions) : specifiedByteSize(facts, dimensions);
}
