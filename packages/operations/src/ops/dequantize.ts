/**
 * DEQUANTIZE: the real numbers that quantised elements represent.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation, type RowOfLength } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor } from "../params.ts";
import { extentProduct } from "../shape.ts";
import type { Tensor, TensorData } from "../tensor.ts";

const later: readonly OperandTypeName[] = ["TENSOR_QUANT8_SYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"];

export const dequantize = defineOperation({
  name: "DEQUANTIZE",
  code: OperationType.DEQUANTIZE,
  summary: "(x - zeroPoint) · scale.",
  params: [tensor("input")],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_QUANT8_ASYMM", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_FLOAT16"],
    ...later.flatMap((type): RowOfLength<2>[] => [
      ["1.2", type, "TENSOR_FLOAT16"],
      ["1.2", type, "TENSOR_FLOAT32"],
    ]),
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_FLOAT16"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_FLOAT32"],
  ],
  ranks: { input: [1, 4] },
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output }) {
    const { scales, stride } = scalesOf(input);
    return {
      units: output.data.length,
      apart: true,
      compute: (first, end) => dequantiseRange(input, scales, stride, output.data, first, end),
    };
  },
});

/** output = (input − zeroPoint) · scale. `stride`: elements in a row that share one of the scales, which take turns. */
function dequantiseRange(
  { data, zeroPoint }: Tensor,
  scales: readonly number[],
  stride: number,
  output: TensorData,
  first: number,
  end: number,
): void {
  for (let start = first; start < end; ) {
    const run = Math.floor(start / stride);
    const scale = scales[run % scales.length];
    const last = Math.min((run + 1) * stride, end);
    for (let index = start; index < last; index++) output[index] = (data[index] - zeroPoint) * scale;
    start = last;
  }
}

/** The scales that take turns, and the number of elements in a row that share one. */
function scalesOf({ channelQuant, scale, dimensions, data }: Tensor): { scales: readonly number[]; stride: number } {
  if (channelQuant === undefined) return { scales: [scale], stride: data.length };
  const { channelDim, scales } = channelQuant;
  ensure(
    scales.length === dimensions[channelDim],
    () =>
      `there are ${scales.length} scales where dimension ${channelDim} of the input has extent ${dimensions[channelDim]}`,
  );
  return { scales, stride: extentProduct(dimensions, channelDim + 1) };
}
