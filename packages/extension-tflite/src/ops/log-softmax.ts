/**
 * LOG_SOFTMAX of 8-bit elements.
 */
import { ensure } from "@nnhal/operations/authoring";
import { readerOf, writerOf } from "../_elements.ts";
import { wider } from "../_wider.ts";
import { eachLane } from "./_lanes.ts";

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
    return eachLane(input, axis, function* (each) {
      let greatest = Number.NEGATIVE_INFINITY;
      yield* each((index) => {
        greatest = Math.max(greatest, read(index));
      });
      let sum = 0;
      yield* each((index) => {
        sum += Math.exp((read(index) - greatest) * beta);
      });
      const logarithm = Math.log(sum);
      yield* each((index) => {
        write(index, (read(index) - greatest) * beta - logarithm);
      });
    });
  },
});
