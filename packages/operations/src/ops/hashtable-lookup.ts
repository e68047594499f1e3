/**
 * HASHTABLE_LOOKUP: rows of a table, chosen by key. HAL: keys are sorted; if they are not, or if one occurs twice, the
 * first that matches counts here. The row of a missing key has stored zeros, for any zero point.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { mayStayZero, tensor } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { movedInfo } from "./_moved.ts";
import { copySlices } from "./_slices.ts";

export const hashtableLookup = defineOperation({
  name: "HASHTABLE_LOOKUP",
  code: OperationType.HASHTABLE_LOOKUP,
  summary: "Takes rows of a table, chosen by key; the row of a missing key is zeros.",
  params: [tensor("lookups", "TENSOR_INT32"), tensor("keys", "TENSOR_INT32"), tensor("values")],
  outputs: [mayStayZero(tensor("output")), tensor("hits", "TENSOR_QUANT8_ASYMM")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.0", "TENSOR_INT32", "TENSOR_INT32"],
    ["1.0", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
  ],
  ranks: { lookups: 1, keys: 1, values: [1, Number.POSITIVE_INFINITY] },
  infer({ lookups, keys, values }) {
    const rows = values.dimensions[0];
    ensure(keys.dimensions[0] === rows, () => `there are ${keys.dimensions[0]} keys and ${rows} rows of values`);
    const count = lookups.dimensions[0];
    return {
      output: movedInfo(values, [count, ...values.dimensions.slice(1)]),
      hits: { dimensions: [count], scale: 1, zeroPoint: 0 },
    };
  },
  reference({ lookups, keys, values }, { output, hits }) {
    const rowOf = new Map<number, number>();
    const rows = new Int32Array(lookups.data.length);
    const inner = extentProduct(values.dimensions, 1);
    // The first of equal keys counts, so they are entered from the last to the first.
    const enter = (first: number, end: number) => {
      for (let back = first + 1; back <= end; back++) {
        const row = keys.data.length - back;
        rowOf.set(keys.data[row], row);
      }
    };
    const find = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        rows[index] = rowOf.get(lookups.data[index]) ?? -1;
        hits.data[index] = rows[index] < 0 ? 0 : 1;
      }
    };
    return [
      { units: keys.data.length, cost: 32, inTurn: true, compute: enter },
      { units: rows.length, cost: 16, compute: find },
      copySlices(values.data, 1, values.dimensions[0], inner, rows, output.data),
    ];
  },
});
