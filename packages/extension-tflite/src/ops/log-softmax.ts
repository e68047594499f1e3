/**
 * LOG_SOFTMAX of 8-bit elements.
 */
import { resolveAxis } from "@nnhal/operations";
import { ensure } from "@nnhal/operations/authoring";
import { boundsOf, lanesOf } from "@nnhal/operations/kernels";
import { readerOf, writerOf } from "../_elements.ts";
import { wider } from "../_wider.ts";

export const logSoftmax = wider("LOG_SOFTMAX", {
  from: "TENSOR_FLOAT32",
  types: [],
  rows: [
    ["1.2", "TENSOR_QUANT8_ASYMM", "FLOAT32", "TENSOR_QUANT8_ASYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  infer({ input, beta }) {
    ensure(beta > 0, () => `beta: expected a number > 0, got ${beta}`);
    return { output: { dimensions: input.dimensions } };
  },
  reference({ input, beta, axis }, { output }) {
    const [read, write] = [readerOf(input), writerOf(output)];
    const lanes = lanesOf(input.dimensions, resolveAxis(axis, input.dimensions.length));
    const { step } = lanes;
    const compute = (first: number, end: number) => {
      for (let lane = first; lane < end; lane++) {
        const [start, last] = boundsOf(lanes, lane);
        let greatest = Number.NEGATIVE_INFINITY;
        for (let at = start; at < last; at += step) greatest = Math.max(greatest, read(at));
        let sum = 0;
        for (let at = start; at < last; at += step) sum += Math.exp((read(at) - greatest) * beta);
        const logarithm = Math.log(sum);
        for (let at = start; at < last; at += step) write(at, (read(at) - greatest) * beta - logarithm);
      }
    };
    return { units: lanes.count, cost: 16 * lanes.length, compute };
  },
});
