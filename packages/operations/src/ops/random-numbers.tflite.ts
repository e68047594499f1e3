/**
 * Operators that draw a tensor of random numbers.
 */
import { randomTensor, unitFloat } from "./_random.tflite.ts";

/** In place of 0, which has no logarithm. */
const LEAST = 1e-7;

/** The operators. */
export const randomNumbers = [
  randomTensor("RANDOM_UNIFORM", 1148, "Random numbers in [0, 1), all equally likely.", (numbers, word) => ({
    units: numbers.length,
    inTurn: true,
    compute(first, end) {
      for (let index = first; index < end; index++) numbers[index] = unitFloat(word());
    },
  })),
  randomTensor(
    "RANDOM_STANDARD_NORMAL",
    1146,
    "Random numbers of the normal distribution with mean 0 and standard deviation 1.",
    (numbers, word) => ({
      units: Math.ceil(numbers.length / 2),
      inTurn: true,
      compute(first, end) {
        for (let pair = first; pair < end; pair++) {
          const radius = Math.sqrt(-2 * Math.log(Math.max(unitFloat(word()), LEAST)));
          const angle = 2 * Math.PI * unitFloat(word());
          numbers[2 * pair] = Math.sin(angle) * radius;
          // The second number of the last pair may have no place, and is dropped then.
          numbers[2 * pair + 1] = Math.cos(angle) * radius;
        }
      },
    }),
  ),
] as const;
