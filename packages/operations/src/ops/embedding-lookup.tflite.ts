/**
 * EMBEDDING_LOOKUP for all types, and of INT8 tables with real results: a row is multiplied by the table's scale, or by its own scale.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { extentProduct } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { outside } from "./_gathered.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { copyRuns } from "./_runs.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

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
    reference({ lookups, values }, { output }) {
      const [rows] = values.dimensions;
      const row = extentProduct(values.dimensions, 1);
      const [source, target] = [movable(values.data), movable(output.data)];
      const indexAt = (position: number) => {
        const index = lookups.data[position];
        if (!(index >= 0 && index < rows)) throw outside(index, position, rows);
        return index;
      };
      const units = lookups.data.length;
      if (output.type === values.type) {
        const fromOf = (position: number) => indexAt(position) * row;
        return copyRuns(units, row, source, fromOf, target, (position) => position * row);
      }
      const scaleOf = rowScales(values);
      const compute = (first: number, end: number) => {
        for (let position = first; position < end; position++) {
          const index = indexAt(position);
          const scale = scaleOf(index);
          for (let place = 0; place < row; place++)
            target[position * row + place] = source[index * row + place] * scale;
        }
      };
      return { units, cost: 4 * (row + 1), compute };
    },
  }),
);

function rowScales({ scale, channelQuant }: Pick<Tensor, "scale" | "channelQuant">): (row: number) => number {
  return channelQuant === undefined ? () => scale : (row) => channelQuant.scales[row];
}
