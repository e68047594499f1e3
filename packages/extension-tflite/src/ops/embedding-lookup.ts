/**
 * EMBEDDING_LOOKUP for all types, and of INT8 tables with real results: a row is multiplied by the table's scale, or by its own scale.
 */
import { extentProduct, type Tensor } from "@nnhal/operations";
import { defineOperation, pacer, tensor, wide } from "@nnhal/operations/authoring";
import { copyInChunks } from "@nnhal/operations/kernels";
import { OperationType } from "@nnhal/types";
import { movesComplex } from "../_complex.ts";
import { outside } from "../_gathered.ts";
import { movable } from "../_integers.ts";
import { realTypes } from "../_types.ts";

const byteTypes = ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_SYMM_PER_CHANNEL"] as const;

export const embeddingLookup = movesComplex(
  defineOperation({
    name: "EMBEDDING_LOOKUP",
    code: OperationType.EMBEDDING_LOOKUP,
    summary: "Takes rows of a table, chosen by index.",
    params: [tensor("lookups", "TENSOR_INT32"), wide(tensor("values"))],
    outputs: [wide(tensor("output"))],
    types: [
      ...realTypes.map((type) => ["1.2", type, type] as const),
      ...byteTypes.flatMap((type) => [
        ["1.2", type, "TENSOR_FLOAT32"] as const,
        ["1.2", type, "TENSOR_FLOAT16"] as const,
      ]),
    ],
    ranks: { lookups: 1, values: [2, Number.POSITIVE_INFINITY] },
    check({ values: { type, zeroPoint, channelQuant } }, { output }) {
      if (output.type === type) return undefined;
      if (zeroPoint !== 0) return `the zero point of the table: expected 0 for real results, got ${zeroPoint}`;
      if (channelQuant === undefined || channelQuant.channelDim === 0) return undefined;
      return `the scales of the table: expected axis 0, got axis ${channelQuant.channelDim}`;
    },
    infer({ lookups, values }, { output }) {
      const dimensions = [lookups.dimensions[0], ...values.dimensions.slice(1)];
      const { scale, zeroPoint } = values;
      return { output: output.type === values.type ? { dimensions, scale, zeroPoint } : { dimensions } };
    },
    *reference({ lookups, values }, { output }) {
      const [rows] = values.dimensions;
      const row = extentProduct(values.dimensions, 1);
      const [source, target] = [movable(values.data), movable(output.data)];
      const scaleOf = output.type === values.type ? undefined : rowScales(values);
      const isTime = pacer();
      for (let position = 0; position < lookups.data.length; position++) {
        const index = lookups.data[position];
        if (!(index >= 0 && index < rows)) throw outside(index, position, rows);
        const part = source.subarray(index * row, (index + 1) * row);
        if (scaleOf === undefined) yield* copyInChunks(part, target, position * row);
        else {
          const scale = scaleOf(index);
          for (let place = 0; place < row; place++) {
            target[position * row + place] = part[place] * scale;
            if (isTime(1)) yield;
          }
        }
        if (isTime(1)) yield;
      }
    },
  }),
);

function rowScales({ scale, channelQuant }: Pick<Tensor, "scale" | "channelQuant">): (row: number) => number {
  return channelQuant === undefined ? () => scale : (row) => channelQuant.scales[row];
}
