/**
 * RANDOM_STANDARD_NORMAL: normally distributed numbers of mean 0 and standard deviation 1, by the method of Box and Muller.
 */
import { defineOperation, read, tensor } from "@nnhal/operations/authoring";
import { inParts } from "../_elementwise.ts";
import { seedParams, unitFloat, wordsOf } from "./_random.ts";

/** In place of 0, which has no logarithm. */
const LEAST = 1e-7;

export const randomStandardNormal = defineOperation({
  name: "RANDOM_STANDARD_NORMAL",
  code: 1146,
  summary: "Random numbers of the normal distribution with mean 0 and standard deviation 1.",
  params: [read(tensor("shape", "TENSOR_INT32")), ...seedParams],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { shape: 1 },
  random: true,
  work: "functionElement",
  infer: ({ shape }) => ({ output: { dimensions: [...shape.data] } }),
  *reference({ seed, seed2 }, { output: { data } }, context) {
    const word = wordsOf(seed, seed2, context);
    yield* inParts(Math.ceil(data.length / 2), (first, end) => {
      for (let pair = first; pair < end; pair++) {
        const radius = Math.sqrt(-2 * Math.log(Math.max(unitFloat(word()), LEAST)));
        const angle = 2 * Math.PI * unitFloat(word());
        data[2 * pair] = Math.sin(angle) * radius;
        // The second number of the last pair may have no place, and is dropped then.
        data[2 * pair + 1] = Math.cos(angle) * radius;
      }
    });
  },
});
