/**
 * EMBEDDING_LOOKUP: rows of a table, chosen by index.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { movedInfo } from "./_moved.ts";
import { copySlices, ensureIndexes } from "./_slices.ts";

export const embeddingLookup = defineOperation({
  name: "EMBEDDING_LOOKUP",
  code: OperationType.EMBEDDING_LOOKUP,
  summary: "Takes rows of a table, chosen by index.",
  params: [tensor("lookups", "TENSOR_INT32"), tensor("values")],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  ranks: { lookups: 1, values: [2, Number.POSITIVE_INFINITY] },
  infer: ({ lookups, values }) => ({
    output: movedInfo(values, [lookups.dimensions[0], ...values.dimensions.slice(1)]),
  }),
  reference({ lookups, values }, { output }) {
    const rows = values.dimensions[0];
    const inner = extentProduct(values.dimensions, 1);
    return [ensureIndexes(lookups.data, rows), copySlices(values.data, 1, rows, inner, lookups.data, output.data)];
  },
});
