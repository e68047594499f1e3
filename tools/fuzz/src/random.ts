/** Random numbers of a seed, fast enough for many draws in each execution. */

/** A stream of random numbers. */
export interface Random {
  /** A whole number in [0, count). 0 if count is 0. */
  below(count: number): number;
  /** True with a probability of one in `count`. */
  oneIn(count: number): boolean;
  /** One of a list that is not empty. */
  pick<Item>(list: ArrayLike<Item>): Item;
}

/** The stream of a seed (xorshift32). */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed | 1, 0x9e37_79b1) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const below = (count: number) => (count <= 1 ? 0 : next() % count);
  return {
    below,
    oneIn: (count) => below(count) === 0,
    pick(list) {
      const item = list[below(list.length)];
      if (item === undefined) throw new RangeError("a pick from an empty list");
      return item;
    },
  };
}
