/**
 * Random numbers that a seed fixes, so that every random case can be run again.
 */
import { elementAt } from "@nnhal/operations";

/** A stream of random numbers. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number within [least, greatest]. */
  integer(least: number, greatest: number): number;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** True with a probability. */
  chance(probability: number): boolean;
}

/** The stream of a seed, a whole number. */
export function createRandom(seed: number): Random {
  let counter = seed >>> 0;
  const next = () => {
    // A counter with an odd step visits all 2^32 states; two rounds of multiplying and folding hide that it counts.
    counter = (counter + 0x9e37_79b9) >>> 0;
    let bits = counter;
    bits = Math.imul(bits ^ (bits >>> 16), 0x21f0_aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a_2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
  };
  const integer = (least: number, greatest: number) => least + Math.floor(next() * (greatest - least + 1));
  return {
    next,
    integer,
    pick: (list) => elementAt(list, integer(0, list.length - 1)),
    chance: (probability) => next() < probability,
  };
}
