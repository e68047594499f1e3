/**
 * RANK: the number of dimensions of a tensor, as a scalar.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation, type RowOfLength } from "../define.ts";
import { int32, tensor } from "../params.ts";

const types: readonly OperandTypeName[] = [
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_INT32",
  "TENSOR_BOOL8",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT8_SYMM",
  "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  "TENSOR_QUANT16_ASYMM",
  "TENSOR_QUANT16_SYMM",
];

export const rank = defineOperation({
  name: "RANK",
  code: OperationType.RANK,
  summary: "The number of dimensions of a tensor.",
  params: [tensor("input")],
  outputs: [int32("output")],
  types: types.map((type): RowOfLength<1> => ["1.3", type]),
  infer: () => ({ output: { dimensions: [] } }),
  reference({ input }, { output }) {
    output.data[0] = input.dimensions.length;
  },
});
