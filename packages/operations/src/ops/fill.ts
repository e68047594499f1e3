/**
 * FILL: a tensor of a given shape, all of whose elements have one value.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, scalar, tensor } from "../params.ts";
import { fillElements } from "./_copies.ts";

export const fill = defineOperation({
  name: "FILL",
  code: OperationType.FILL,
  summary: "A tensor of a given shape, all of whose elements have one value.",
  params: [read(tensor("dimensions", "TENSOR_INT32")), scalar("value")],
  outputs: [tensor("output")],
  types: [
    ["1.3", "FLOAT32", "TENSOR_FLOAT32"],
    ["1.3", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.3", "INT32", "TENSOR_INT32"],
  ],
  ranks: { dimensions: 1 },
  infer({ dimensions }) {
    const shape = Array.from(dimensions.data);
    ensure(shape.length > 0, () => "expected at least 1 dimension, got 0");
    shape.forEach((extent, axis) => {
      ensure(extent >= 0, () => `the extent of axis ${axis} is ${extent}, less than 0`);
    });
    return { output: { dimensions: shape } };
  },
  reference: ({ value }, { output }) => fillElements(output.data, value),
});
