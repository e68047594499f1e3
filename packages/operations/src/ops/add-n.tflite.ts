/**
 * ADD_N: the sum of several tensors of one shape.
 */

import { defineOperation } from "../define.ts";
import { tensor, variadic } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { TensorData } from "../tensor.ts";

export const addN = defineOperation({
  name: "ADD_N",
  code: 1106,
  summary: "The sum of several tensors of one shape. Integers wrap.",
  params: [variadic(tensor("inputs"))],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
  ],
  infer({ inputs }) {
    const [{ dimensions }] = inputs;
    for (const [place, input] of inputs.entries()) ensureShape(`input ${place}`, input, dimensions);
    return { output: { dimensions } };
  },
  reference({ inputs }, { output: { data: sums } }) {
    const units = sums.length;
    return inputs.map(({ data }) => ({ units, compute: (first: number, end: number) => add(data, sums, first, end) }));
  },
});

function add(data: TensorData, sums: TensorData, first: number, end: number): void {
  for (let index = first; index < end; index++) sums[index] += data[index];
}
