/**
 * Functions of real numbers: exact ones of 8-bit elements and floats, by a table of 16-bit elements.
 */

import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { mapElements } from "../_elementwise.ts";
import { mapByTable, tableOf } from "./_table.ts";

/** Computes a function of each element. */
export function mapFunction(
  input: AnyTensor,
  output: AnyOutput,
  real: (value: number) => number,
): Generator<void, void> {
  return input.type === "TENSOR_QUANT16_SYMM"
    ? mapByTable(input, output, tableOf(input, output, real))
    : mapElements(input, output, { real });
}
