/**
 * RANDOM_STANDARD_NORMAL: normally distributed numbers of mean 0 and standard deviation 1, by the method of Box and Muller.
 */
import { randomTensor, unitFloat } from "./_random.ts";

/** In place of 0, which has no logarithm. */
const LEAST = 1e-7;

export const randomStandardNormal = randomTensor(
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
);
