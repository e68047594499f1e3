/**
 * Quantised functions of one element: an 8-bit element has 256 values, so the function is computed for each of them once
 * and every element looks its result up.
 */
import { clamp } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import { createData, integerRange, type OutputTensor, type Tensor, type TensorData } from "../tensor.ts";

/**
 * Maps each element of an 8-bit tensor. `map` receives an element minus its zero point; the output's zero point is added to
 * its result, and the sum is clamped to the output's type.
 */
export function mapByTable(
  input: Tensor,
  output: Pick<OutputTensor, "type" | "zeroPoint" | "data">,
  map: (value: number) => number,
): Phase {
  const [lowest] = integerRange(input.type);
  const [least, greatest] = integerRange(output.type);
  const table = createData(output.type, 256);
  for (let index = 0; index < table.length; index++) {
    table[index] = clamp(map(index + lowest - input.zeroPoint) + output.zeroPoint, least, greatest);
  }
  return {
    units: output.data.length,
    apart: true,
    compute: (first, end) => lookUp(input.data, lowest, table, output.data, first, end),
  };
}

/** output = table[input − lowest] */
function lookUp(
  input: TensorData,
  lowest: number,
  table: TensorData,
  output: TensorData,
  first: number,
  end: number,
): void {
  for (let index = first; index < end; index++) output[index] = table[input[index] - lowest];
}
