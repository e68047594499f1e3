/** An extension with types of several sizes, and an operation on them. */
import { defineOperation } from "./define.ts";
import { defineExtension, extensionTypes } from "./extension.ts";
import { int32, tensor } from "./params.ts";

export const name = "com.example.wide";
export const types = extensionTypes(name, {
  INT64: { code: 0, kind: "scalar", array: BigInt64Array },
  TENSOR_COMPLEX64: { code: 7, kind: "tensor", array: Float32Array, numbersPerElement: 2 },
});
export const widen = defineOperation({
  name: "WIDEN",
  code: 3,
  summary: "Makes complex numbers of real ones.",
  params: [tensor("input"), tensor("offset", types.INT64), int32("axis")],
  outputs: [tensor("output")],
  types: [["1.2", "TENSOR_FLOAT32", types.TENSOR_COMPLEX64]],
});
export const wide = defineExtension({ name, operandTypes: types, operations: [widen] });
