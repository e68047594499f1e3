/**
 * Seeded random numbers (xoshiro128**, its state filled by splitmix32), so that one seed always draws the same
 * pictures and starts from the same weights. Every function that needs chance takes a Random; nothing here reads the
 * clock or Math.random.
 */

export interface Random {
  /** Uniform in [0, 1), with 32 random bits. */
  next(): number;
  /** Uniform in [low, high). */
  between(low: number, high: number): number;
  /** Normal with mean 0 and the given standard deviation. */
  normal(deviation: number): number;
  /** Uniform integer in [0, count). */
  integer(count: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
}

const rotateLeft = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** A well-mixed 32-bit hash of an integer: the finaliser of splitmix32. */
export function mix32(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export function createRandom(seed: number): Random {
  const state = new Int32Array(4);
  for (let index = 0; index < 4; index++) state[index] = mix32(seed + Math.imul(index + 1, 0x9e3779b9));

  function next(): number {
    const result = Math.imul(rotateLeft(Math.imul(state[1], 5), 7), 9) >>> 0;
    const shifted = state[1] << 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotateLeft(state[3], 11);
    return result / 2 ** 32;
  }

  const between = (low: number, high: number): number => low + (high - low) * next();
  const integer = (count: number): number => Math.floor(next() * count);
  return {
    next,
    between,
    integer,
    // Box-Muller; 1 - next() lies in (0, 1], so the logarithm is finite.
    normal: (deviation) => deviation * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    chance: (probability) => next() < probability,
    pick: (list) => list[integer(list.length)],
  };
}
