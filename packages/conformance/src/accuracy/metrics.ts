/** Metrics of a network's answers on inputs whose right answers are known. All results are fractions of 1. */

/** The part of inputs whose right class is among the `k` greatest scores. Equal scores count by their place. */
export function topAccuracy(
  all: readonly { readonly scores: ArrayLike<number>; readonly answer: number }[],
  k: number,
): number {
  return mean(all.map(({ scores, answer }) => (rankOf(scores, answer) < k ? 1 : 0)));
}

/** Returns the number of classes with a greater score, or with the same score at an earlier index. */
function rankOf(scores: ArrayLike<number>, answer: number): number {
  const own = scores[answer];
  // A class that has no score, or NaN, is right never.
  if (own === undefined || Number.isNaN(own)) return Number.POSITIVE_INFINITY;
  let rank = 0;
  for (let index = 0; index < scores.length; index++) {
    const other = scores[index] ?? Number.NEGATIVE_INFINITY;
    if (other > own || (other === own && index < answer)) rank++;
  }
  return rank;
}

/** The class of the greatest of each run of `classes` scores. */
export function greatestOf(scores: ArrayLike<number>, classes: number): number[] {
  return Array.from({ length: Math.floor(scores.length / classes) }, (_, place) => {
    let best = 0;
    for (let index = 1; index < classes; index++) {
      if ((scores[place * classes + index] ?? 0) > (scores[place * classes + best] ?? 0)) best = index;
    }
    return best;
  });
}

/**
 * Mean intersection over union (mIoU): for each class that occurs, the elements that have it in both over those that have it in either;
 * over all inputs together. Elements whose answer is `ignored` do not count.
 */
export function meanIntersectionOverUnion(
  all: readonly { readonly classes: ArrayLike<number>; readonly answer: ArrayLike<number> }[],
  ignored = 255,
): number {
  const counts = new Map<number, { both: number; either: number }>();
  const count = (of: number) => {
    const known = counts.get(of) ?? { both: 0, either: 0 };
    counts.set(of, known);
    return known;
  };
  for (const { classes, answer } of all) {
    for (let index = 0; index < answer.length; index++) {
      const wanted = answer[index] ?? ignored;
      if (wanted === ignored) continue;
      const found = classes[index] ?? -1;
      count(wanted).either++;
      if (found === wanted) count(wanted).both++;
      else if (found >= 0) count(found).either++;
    }
  }
  return mean([...counts.values()].map(({ both, either }) => both / either));
}

/** A box with its class: top, left, bottom, right. */
export interface Boxed {
  readonly box: readonly [number, number, number, number];
  readonly class: number;
}

/** A box that a network found. */
export interface Found extends Boxed {
  readonly score: number;
}

/**
 * Mean average precision (mAP): for each class with answers, the area under precision by recall, every point counted. A box is right if
 * it overlaps an answer of its class, of its input, by at least `overlap`, and no box with a greater score has taken that answer.
 */
export function meanAveragePrecision(
  all: readonly { readonly found: readonly Found[]; readonly answer: readonly Boxed[] }[],
  overlap = 0.5,
): number {
  const classes = new Set(all.flatMap(({ answer }) => answer.map((one) => one.class)));
  return mean([...classes].map((of) => averagePrecision(all, of, overlap)));
}

function averagePrecision(all: Parameters<typeof meanAveragePrecision>[0], of: number, overlap: number): number {
  const found = all
    .flatMap(({ found }, input) => found.filter((one) => one.class === of).map((one) => ({ ...one, input })))
    .sort((one, other) => other.score - one.score);
  const answers = all.map(({ answer }) => answer.filter((one) => one.class === of));
  const taken = answers.map(() => new Set<Boxed>());
  const total = answers.reduce((sum, { length }) => sum + length, 0);
  let right = 0;
  const points = found.map(({ box, input }, index) => {
    const free = (answers[input] ?? []).filter((answer) => !taken[input]?.has(answer));
    const best = free.toSorted((one, other) => overlapOf(box, other.box) - overlapOf(box, one.box))[0];
    if (best !== undefined && overlapOf(box, best.box) >= overlap) {
      taken[input]?.add(best);
      right++;
    }
    return { recall: right / total, precision: right / (index + 1) };
  });
  let area = 0;
  let recall = 0;
  for (const [index, point] of points.entries()) {
    // The greatest precision from here on: precision must not grow with recall.
    const precision = Math.max(...points.slice(index).map((one) => one.precision));
    area += (point.recall - recall) * precision;
    recall = point.recall;
  }
  return area;
}

function overlapOf([top, left, bottom, right]: Boxed["box"], other: Boxed["box"]): number {
  const height = Math.min(bottom, other[2]) - Math.max(top, other[0]);
  const width = Math.min(right, other[3]) - Math.max(left, other[1]);
  const both = Math.max(0, height) * Math.max(0, width);
  const area = (bottom - top) * (right - left) + (other[2] - other[0]) * (other[3] - other[1]) - both;
  return area > 0 ? both / area : 0;
}

/** The edit distances of sequences over the lengths of the answers together; 0 is best, and it can be more than 1. */
export function errorRate(
  all: readonly { readonly found: readonly number[]; readonly answer: readonly number[] }[],
): number {
  const length = all.reduce((sum, { answer }) => sum + answer.length, 0);
  return all.reduce((sum, { found, answer }) => sum + editDistance(found, answer), 0) / Math.max(1, length);
}

/** The least number of symbols that are inserted, left out or exchanged. */
function editDistance(from: readonly number[], to: readonly number[]): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, symbol] of from.entries()) {
    const next = [index + 1];
    for (const [place, wanted] of to.entries()) {
      const exchanged = (row[place] ?? 0) + (symbol === wanted ? 0 : 1);
      next.push(Math.min(exchanged, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
