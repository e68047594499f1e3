/**
 * RANDOM_UNIFORM: numbers in [0, 1), all equally likely.
 */
import { defineOperation, read, tensor } from "@nnhal/operations/authoring";
import { inParts } from "../_elementwise.ts";
import { seedParams, unitFloat, wordsOf } from "./_random.ts";

export const randomUniform = defineOperation({
  name: "RANDOM_UNIFORM",
  code: 1148,
  summary: "Random numbers in [0, 1), all equally likely.",
  params: [read(tensor("shape", "TENSOR_INT32")), ...seedParams],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { shape: 1 },
  random: true,
  work: "functionElement",
  infer: ({ shape }) => ({ output: { dimensions: [...shape.data] } }),
  *reference({ seed, seed2 }, { output: { data } }, context) {
    const word = wordsOf(seed, seed2, context);
    yield* inParts(data.length, (first, end) => {
      for (let index = first; index < end; index++) data[index] = unitFloat(word());
    });
  },
});
