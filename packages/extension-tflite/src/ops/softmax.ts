/**
 * SOFTMAX with a 16-bit result, of more than 4 axes, and with any quantisation of an 8-bit result.
 */
import { ensure } from "@nnhal/operations/authoring";
import { type AnyOutput, type AnyTensor, readerOf, withQuantisation, writerOf } from "../_elements.ts";
import { anyRank } from "../_elementwise.ts";
import { activationTypes } from "../_types.ts";
import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";
import { ensureFractions } from "./_fractions.ts";
import { eachLane } from "./_lanes.ts";
import { softmax16 } from "./_softmax16.ts";

export const softmax = wider("SOFTMAX", {
  from: "TENSOR_FLOAT32",
  types: activationTypes,
  rows: [
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "FLOAT32", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED],
  ],
  ranks: { input: anyRank },
  infer({ input, beta }) {
    ensure(beta > 0, () => `beta: expected a number > 0, got ${beta}`);
    return { output: { dimensions: input.dimensions } };
  },
  reference({ input, beta, axis }, { output }) {
    if (input.type !== "TENSOR_QUANT16_SYMM") return realSoftmax(input, beta, axis, withQuantisation(output));
    ensureFractions(output);
    return softmax16(input, beta, axis, output);
  },
});

function realSoftmax(input: AnyTensor, beta: number, axis: number, output: AnyOutput): Generator<void, void> {
  const [read, write] = [readerOf(input), writerOf(output)];
  const exponentials = new Float64Array(output.data.length);
  return eachLane(input, axis, function* (each) {
    let greatest = Number.NEGATIVE_INFINITY;
    yield* each((index) => {
      greatest = Math.max(greatest, read(index));
    });
    let sum = 0;
    yield* each((index) => {
      exponentials[index] = Math.exp((read(index) - greatest) * beta);
      sum += exponentials[index];
    });
    yield* each((index) => {
      write(index, exponentials[index] / sum);
    });
  });
}
