/**
 * Quantised functions of one element: an 8-bit element has 256 values, so the function is computed for each of them once
 * and every element looks its result up.
 */
import { clamp } from "../fixed-point.ts";
import { createData, integerRange, type OutputTensor, type Tensor } from "../tensor.ts";
import { inChunks } from "./_chunks.ts";

/**
 * Maps each element of an 8-bit tensor. `map` receives an element minus its zero point; the output's zero point is added to
 * its result, and the sum is clamped to the output's type. Pauses if there are many elements.
 */
export function* mapByTable(
  input: Tensor,
  output: Pick<OutputTensor, "type" | "zeroPoint" | "data">,
  map: (value: number) => number,
): Generator<void, void> {
  const [lowest] = integerRange(input.type);
  const [least, greatest] = integerRange(output.type);
  const table = createData(output.type, 256);
  for (let index = 0; index < table.length; index++) {
    table[index] = clamp(map(index + lowest - input.zeroPoint) + output.zeroPoint, least, greatest);
  }
  yield* inChunks(output.data.length, (part) => {
    const from = part(input.data);
    const to = part(output.data);
    for (let index = 0; index < to.length; index++) to[index] = table[from[index] - lowest];
  });
}
