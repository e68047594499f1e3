/**
 * LOG_SOFTMAX along one axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, scalar, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import type { TensorData } from "../tensor.ts";
import { addExponentials, computeLanes, greatestOf, lanesOf, type Pass } from "./_lanes.ts";

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
  reference({ input, beta, axis }, { output }) {
    const lanes = lanesOf(input.dimensions, resolveAxis(axis, input.dimensions.length));
    return computeLanes(lanes, 16, logSoftmaxOf(input.data, beta, output.data));
  },
});

/** y = beta · (x − max x) − log Σ exp(beta · (x − max x)) */
function logSoftmaxOf(x: TensorData, beta: number, y: TensorData): Pass[] {
  return [
    (piece, [greatest]) => greatestOf(x, piece, greatest),
    (piece, [greatest, sum]) => addExponentials(x, beta, greatest, piece, sum),
    ({ from, to, step }, [greatest, sum]) => {
      const logarithm = Math.log(sum);
      for (let at = from; at < to; at += step) y[at] = (x[at] - greatest) * beta - logarithm;
    },
  ];
}
