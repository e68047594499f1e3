/**
 * LOG_SOFTMAX along one axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, scalar, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import type { TensorData } from "../tensor.ts";
import { boundsOf, type Lanes, lanesOf } from "./_lanes.ts";

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
    return {
      units: lanes.count,
      cost: 16 * lanes.length,
      compute: (first, end) => computeLanes(input.data, beta, lanes, output.data, first, end),
    };
  },
});

/** y = beta · (x − max x) − log Σ exp(beta · (x − max x)), for the lanes [first, end). */
function computeLanes(x: TensorData, beta: number, lanes: Lanes, y: TensorData, first: number, end: number): void {
  for (let lane = first; lane < end; lane++) {
    const [start, last] = boundsOf(lanes, lane);
    let greatest = Number.NEGATIVE_INFINITY;
    for (let at = start; at < last; at += lanes.step) greatest = Math.max(greatest, x[at]);
    let sum = 0;
    for (let at = start; at < last; at += lanes.step) sum += Math.exp((x[at] - greatest) * beta);
    const logarithm = Math.log(sum);
    for (let at = start; at < last; at += lanes.step) y[at] = (x[at] - greatest) * beta - logarithm;
  }
}
