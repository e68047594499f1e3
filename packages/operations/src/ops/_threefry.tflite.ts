/**
 * ThreeFry2x32-20: a counter-based random generator (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
 */

/** Two 32-bit words. */
export type WordPair = readonly [number, number];

/** By round; they repeat. */
const rotations = [13, 15, 26, 6, 17, 29, 16, 24] as const;

const PARITY = 0x1bd1_1bda;
const ROUNDS = 20;

/** The words of a counter under a key. All words are unsigned. */
export function threefry([low, high]: WordPair, [key0, key1]: WordPair): WordPair {
  const keys = [key0, key1, PARITY ^ key0 ^ key1];
  let left = (low + key0) | 0;
  let right = (high + key1) | 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const distance = rotations[(round - 1) % rotations.length];
    left = (left + right) | 0;
    right = ((right << distance) | (right >>> (32 - distance))) ^ left;
    // The key is added after every fourth round, each time another part of it first.
    const added = round / 4;
    if (!Number.isInteger(added)) continue;
    left = (left + keys[added % 3]) | 0;
    right = (right + keys[(added + 1) % 3] + added) | 0;
  }
  return [left >>> 0, right >>> 0];
}
