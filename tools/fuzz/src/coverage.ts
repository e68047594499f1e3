/**
 * Which parts of the sources an execution reached, and how often. The instrumented build counts in one array; counts are sorted into
 * classes, so that a loop that runs once, twice or often are different things to have seen.
 */

/** The global variable of an instrumented build that holds the counts. */
export const countsName = "nnhalFuzzCounts";

/** A bit for each class of counts: 1, 2, 3, 4 – 7, 8 – 15, 16 – 31, 32 – 127, more. */
const classOf = Uint8Array.from({ length: 256 }, (_, count) => {
  if (count === 0) return 0;
  const starts = [1, 2, 3, 4, 8, 16, 32, 128];
  return 1 << (starts.filter((start) => start <= count).length - 1);
});

/** Coverage of all executions so far. */
export interface Coverage {
  /** Before an execution. */
  reset(): void;
  /** After an execution: how many places or classes of counts it is the first to have reached. */
  take(): number;
  /** Number of places that have been reached. */
  readonly places: number;
  /** Returns true if a place has been reached. */
  has(place: number): boolean;
}

/** Coverage in an array of counts, whose length is a multiple of 4. */
export function createCoverage(counts: Uint8Array): Coverage {
  const words = new Uint32Array(counts.buffer, counts.byteOffset, counts.length / 4);
  const seen = new Uint8Array(counts.length);
  let places = 0;
  return {
    reset: () => counts.fill(0),
    take() {
      let fresh = 0;
      // Most places are not reached: four at a time are passed by.
      for (let word = 0; word < words.length; word++) {
        if (words[word] === 0) continue;
        for (let place = word * 4; place < word * 4 + 4; place++) {
          const bit = classOf[counts[place] ?? 0] ?? 0;
          const known = seen[place] ?? 0;
          if ((known & bit) === bit) continue;
          if (known === 0) places++;
          seen[place] = known | bit;
          fresh++;
        }
      }
      return fresh;
    },
    get places() {
      return places;
    },
    has: (place) => seen[place] !== 0,
  };
}
