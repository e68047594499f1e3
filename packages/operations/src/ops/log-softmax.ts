/**
 * LOG_SOFTMAX along one axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, scalar, tensor } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { pacer } from "./_chunks.ts";

export const logSoftmax = defineOperation({
  name: "LOG_SOFTMAX",
  code: OperationType.LOG_SOFTMAX,
  summary: "The logarithm of SOFTMAX: beta · x - log(Σ exp(beta · x)) along an axis.",
  params: [tensor("input"), scalar("beta"), int32("axis")],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
  ],
  work: "functionElement",
  infer({ input, beta, axis }) {
    resolveAxis(axis, input.dimensions.length);
    ensure(beta > 0, () => `beta: expected a number > 0, got ${beta}`);
    return { output: { dimensions: input.dimensions } };
  },
  *reference({ input, beta, axis }, { output }) {
    const reduced = resolveAxis(axis, input.dimensions.length);
    const length = input.dimensions[reduced];
    const inner = extentProduct(input.dimensions, reduced + 1);
    const { data } = input;
    const isTime = pacer();
    for (let block = 0; block < data.length; block += inner * length) {
      for (let first = block; first < block + inner; first++) {
        const end = first + inner * length;
        let greatest = Number.NEGATIVE_INFINITY;
        for (let index = first; index < end; index += inner) {
          greatest = Math.max(greatest, data[index]);
          if (isTime(1)) yield;
        }
        let sum = 0;
        for (let index = first; index < end; index += inner) {
          sum += Math.exp((data[index] - greatest) * beta);
          if (isTime(1)) yield;
        }
        const logarithm = Math.log(sum);
        for (let index = first; index < end; index += inner) {
          output.data[index] = (data[index] - greatest) * beta - logarithm;
          if (isTime(1)) yield;
        }
      }
    }
  },
});
