/** Differences between the elements of two results, in steps of their quantisation. */
export interface Difference {
  readonly elements: number;
  /** Number of elements that differ. */
  readonly differing: number;
  /** The greatest difference, in either direction. */
  readonly largest: number;
  /** The sum of the signed differences, actual minus expected, over all elements. */
  readonly sum: number;
  /** The difference is positive, and negative, in so many elements. */
  readonly above: number;
  readonly below: number;
}

export const noDifference: Difference = { elements: 0, differing: 0, largest: 0, sum: 0, above: 0, below: 0 };

/** The differences of two results of the same length. */
export function compareElements(actual: ArrayLike<number | bigint>, expected: ArrayLike<number | bigint>): Difference {
  if (actual.length !== expected.length) throw new TypeError(`${actual.length} elements, expected ${expected.length}`);
  let [largest, sum, above, below] = [0, 0, 0, 0];
  for (let place = 0; place < actual.length; place++) {
    const difference = Number(actual[place]) - Number(expected[place]);
    largest = Math.max(largest, Math.abs(difference));
    sum += difference;
    if (difference > 0) above++;
    if (difference < 0) below++;
  }
  return { elements: actual.length, differing: above + below, largest, sum, above, below };
}

export function addDifferences(all: readonly Difference[]): Difference {
  return all.reduce(
    (total, each) => ({
      elements: total.elements + each.elements,
      differing: total.differing + each.differing,
      largest: Math.max(total.largest, each.largest),
      sum: total.sum + each.sum,
      above: total.above + each.above,
      below: total.below + each.below,
    }),
    noDifference,
  );
}

/**
 * Returns true if more differences go in one direction than chance would explain. Of n that may go either way, the number above
 * has the deviation sqrt(n) / 2; beyond four of these there is a bias.
 */
export function isBiased({ above, below }: Difference): boolean {
  const count = above + below;
  return Math.abs(above - below) > 4 * Math.sqrt(count) && count >= 20;
}

/** The mean signed difference in steps. */
export function meanOf({ sum, elements }: Difference): number {
  return elements === 0 ? 0 : sum / elements;
}
