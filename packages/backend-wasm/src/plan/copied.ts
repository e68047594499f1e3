/** Copies of values. */
import { stridesOf } from "@nnhal/operations";
import { addMove, type Builder, operandOf, type Value } from "./builder.ts";

/** The same elements in another region, or in that of `copy`. */
export function copyElements(
  builder: Builder,
  value: Value,
  copy = builder.value(value.type, value.dimensions),
): Value {
  const strides = stridesOf(value.dimensions);
  addMove(builder, "copy", value.dimensions, operandOf(value, strides), operandOf(copy, strides));
  return copy;
}
