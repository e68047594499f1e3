/**
 * LOG_SOFTMAX of 8-bit elements.
 */

import { ensure } from "../fail.ts";
import { resolveAxis } from "../shape.ts";
import { readerOf, writerOf } from "./_elements.tflite.ts";
import { computeLanes, lanesOf } from "./_lanes.ts";
import { wider } from "./_wider.tflite.ts";
import { logSoftmax as base } from "./log-softmax.ts";

export const logSoftmax = wider(base, {
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
    return computeLanes(lanes, 16, [
      ({ from, to, step }, [before = Number.NEGATIVE_INFINITY]) => {
        let greatest = before;
        for (let at = from; at < to; at += step) greatest = Math.max(greatest, read(at));
        return greatest;
      },
      ({ from, to, step }, [greatest, before = 0]) => {
        let sum = before;
        for (let at = from; at < to; at += step) sum += Math.exp((read(at) - greatest) * beta);
        return sum;
      },
      ({ from, to, step }, [greatest, sum]) => {
        const logarithm = Math.log(sum);
        for (let at = from; at < to; at += step) write(at, (read(at) - greatest) * beta - logarithm);
      },
    ]);
  },
});
