/**
 * Functions of real numbers: of quantised elements by a table, of floats as they are.
 */

import type { Phase } from "../phases.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { mapElements } from "./_elementwise.tflite.ts";
import { byteTableOf, mapByTable, tableOf } from "./_table.tflite.ts";

/** Computes a function of each element. */
export function mapFunction(input: AnyTensor, output: AnyOutput, real: (value: number) => number): Phase {
  switch (input.type) {
    case "TENSOR_QUANT16_SYMM":
      return mapByTable(input, output, tableOf(input, output, real));
    case "TENSOR_QUANT8_ASYMM":
    case "TENSOR_QUANT8_ASYMM_SIGNED":
      return mapByTable(input, output, byteTableOf(input, output, real));
    default:
      return mapElements(input, output, { real });
  }
}
