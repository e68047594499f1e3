/**
 * RANDOM_UNIFORM: numbers in [0, 1), all equally likely.
 */
import { randomTensor, unitFloat } from "./_random.ts";

export const randomUniform = randomTensor(
  "RANDOM_UNIFORM",
  1148,
  "Random numbers in [0, 1), all equally likely.",
  (numbers, word) => ({
    units: numbers.length,
    inTurn: true,
    compute(first, end) {
      for (let index = first; index < end; index++) numbers[index] = unitFloat(word());
    },
  }),
);
