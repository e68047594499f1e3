/**
 * Philox4x32-10: a counter-based random generator (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
 * 1, 2, 3", 2011). A key and a counter determine four words; there is no other state.
 */

const ROUNDS = 10;

/** Four 32-bit words. */
export type Words = readonly [number, number, number, number];

/** The words of a counter under a key of two 32-bit words. All words are unsigned. */
export function philox(counter: Words, key: readonly [number, number]): Words {
  let [a, b, c, d] = counter;
  let [keyA, keyB] = key;
  for (let round = 0; round < ROUNDS; round++) {
    const highA = highMultiply(a, 0xd251_1f53);
    const lowA = Math.imul(a, 0xd251_1f53);
    const highC = highMultiply(c, 0xcd9e_8d57);
    const lowC = Math.imul(c, 0xcd9e_8d57);
    a = highC ^ b ^ keyA;
    b = lowC;
    c = highA ^ d ^ keyB;
    d = lowA;
    keyA = (keyA + 0x9e37_79b9) | 0;
    keyB = (keyB + 0xbb67_ae85) | 0;
  }
  return [a >>> 0, b >>> 0, c >>> 0, d >>> 0];
}

/** The upper 32 bits of the product of two 32-bit words taken as unsigned. */
function highMultiply(a: number, b: number): number {
  const wide = a >>> 0;
  // wide * b = upper * 2^16 + lower, both exact doubles.
  const upper = wide * (b >>> 16);
  const lower = wide * (b & 0xffff);
  return Math.floor((upper + Math.floor(lower / 0x1_0000)) / 0x1_0000) | 0;
}

/** A number in [0, 1) of 53 random bits, made of two unsigned words. */
export function unitInterval(high: number, low: number): number {
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) * 2 ** -53;
}
