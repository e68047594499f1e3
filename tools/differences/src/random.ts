/** Random numbers that follow from a seed, so that a difference that was seen can be seen again. */

/** A sequence of numbers from 0 to below 1 (xorshift of 32 bits). `seed`: any integer. */
export function randomSequence(seed: number): () => number {
  let state = (Math.imul(seed, 0x9e37_79b1) ^ 0x85eb_ca6b) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  // The first numbers of similar seeds are similar.
  for (let i = 0; i < 16; i++) next();
  return next;
}
