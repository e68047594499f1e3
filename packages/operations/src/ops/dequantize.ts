/**
 * DEQUANTIZE: the real numbers that quantised elements represent.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation, type RowOfLength } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor } from "../params.ts";
import { extentProduct } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { CHUNK, pacer } from "./_chunks.ts";

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
  *reference({ input }, { output }) {
    const { data } = output;
    const [scales, stride] = scalesOf(input);
    const isTime = pacer();
    for (let start = 0, channel = 0; start < data.length; start += stride) {
      const scale = scales[channel];
      for (let first = start; first < start + stride; first += CHUNK) {
        const end = Math.min(first + CHUNK, start + stride);
        for (let index = first; index < end; index++) data[index] = (input.data[index] - input.zeroPoint) * scale;
        if (isTime(end - first)) yield;
      }
      channel = channel + 1 < scales.length ? channel + 1 : 0;
    }
  },
});

/** The scales that take turns, and the number of elements in a row that share one. */
function scalesOf({ channelQuant, scale, dimensions, data }: Tensor): [scales: readonly number[], stride: number] {
  if (channelQuant === undefined) return [[scale], data.length];
  const { channelDim, scales } = channelQuant;
  ensure(
    scales.length === dimensions[channelDim],
    () =>
      `there are ${scales.length} scales where dimension ${channelDim} of the input has extent ${dimensions[channelDim]}`,
  );
  return [scales, extentProduct(dimensions, channelDim + 1)];
}
