/**
 * Boxes of the detection operations: four numbers each, two corners. Their common rules, overlap, and the suppression of
 * boxes that overlap a better one.
 */
import { ensure } from "../fail.ts";
import type { TensorInfo } from "../tensor.ts";
import { pacer } from "./_chunks.ts";

/** Quantisation of box corners, sizes and anchors that are 16-bit integers. */
export const BOX_SCALE = 0.125;

/** Refuses 16-bit boxes of another quantisation than the HAL fixes. */
export function ensureBoxScale(name: string, { type, scale, zeroPoint }: TensorInfo): void {
  if (type !== "TENSOR_QUANT16_ASYMM" && type !== "TENSOR_QUANT16_SYMM") return;
  ensure(
    scale === BOX_SCALE && zeroPoint === 0,
    () => `${name}: expected scale ${BOX_SCALE} and zero point 0, got ${scale} and ${zeroPoint}`,
  );
}

/** Quantisation of an output of box corners of a type. */
export function boxQuantisation({ type }: TensorInfo): { scale: number; zeroPoint: number } {
  return { scale: type === "TENSOR_QUANT16_ASYMM" ? BOX_SCALE : 0, zeroPoint: 0 };
}

/** Refuses a box whose second corner lies before its first. `at`: its offset in `boxes`. */
export function ensureOrdered(boxes: ArrayLike<number>, at: number): void {
  ensure(
    boxes[at] <= boxes[at + 2] && boxes[at + 1] <= boxes[at + 3],
    () => `box ${at / 4} ends before it begins: ${Array.from({ length: 4 }, (_, side) => boxes[at + side]).join(", ")}`,
  );
}

/** Refuses a batch index that names no batch. */
export function ensureBatch(batch: number, batches: number): void {
  ensure(batch >= 0 && batch < batches, () => `batch index ${batch} is outside [0, ${batches})`);
}

/** Area of the intersection of two boxes over that of their union. `a` and `b`: their offsets. */
export function intersectionOverUnion(boxes: ArrayLike<number>, a: number, b: number): number {
  const width = Math.max(0, Math.min(boxes[a + 2], boxes[b + 2]) - Math.max(boxes[a], boxes[b]));
  const height = Math.max(0, Math.min(boxes[a + 3], boxes[b + 3]) - Math.max(boxes[a + 1], boxes[b + 1]));
  const areaOf = (at: number) => (boxes[at + 2] - boxes[at]) * (boxes[at + 3] - boxes[at + 1]);
  const shared = width * height;
  return shared / (areaOf(a) + areaOf(b) - shared);
}

/**
 * A region of interest moved and scaled by deltas (dx, dy, dw, dh) relative to its size, cut off at the image's borders;
 * written to `result` from `to`.
 */
export function transformBox(
  boxes: ArrayLike<number>,
  at: number,
  deltas: ArrayLike<number>,
  deltaAt: number,
  imageHeight: number,
  imageWidth: number,
  result: Float64Array,
  to: number,
): void {
  const width = boxes[at + 2] - boxes[at];
  const height = boxes[at + 3] - boxes[at + 1];
  const centreX = boxes[at] + width / 2 + deltas[deltaAt] * width;
  const centreY = boxes[at + 1] + height / 2 + deltas[deltaAt + 1] * height;
  const halfWidth = (Math.exp(deltas[deltaAt + 2]) * width) / 2;
  const halfHeight = (Math.exp(deltas[deltaAt + 3]) * height) / 2;
  const within = (value: number, limit: number) => Math.min(Math.max(value, 0), limit);
  result[to] = within(centreX - halfWidth, imageWidth);
  result[to + 1] = within(centreY - halfHeight, imageHeight);
  result[to + 2] = within(centreX + halfWidth, imageWidth);
  result[to + 3] = within(centreY + halfHeight, imageHeight);
}

/** The candidates and rules of a suppression. */
export interface Suppression {
  /** Scores by candidate; a soft kernel changes them. */
  readonly scores: Float64Array;
  readonly boxes: ArrayLike<number>;
  /** The offset of a candidate's box in `boxes`. */
  readonly boxOf: (candidate: number) => number;
  /** The factor for a candidate's score, by its overlap with a chosen one. */
  readonly kernel: (overlap: number) => number;
  /** A candidate whose score falls below it is dropped; undefined: only if the kernel returns 0. */
  readonly leastScore: number | undefined;
  /** Most candidates to choose; negative: no limit. */
  readonly most: number;
  /**
   * True if the remaining candidates keep their order, so that the first of equal scores is always the earliest
   * candidate.
   */
  readonly keepsOrder?: boolean;
}

/**
 * Chooses candidates: repeatedly the best one left, whose overlap then lowers the scores of the others. Returns the chosen ones in the
 * order of choice. Among equal scores the first wins; unless `keepsOrder` is set, a dropped candidate changes places with the last, as the expected
 * results of the conformance vectors require. Pauses every few milliseconds.
 */
export function* suppress(candidates: number[], suppression: Suppression): Generator<void, number[]> {
  const { scores, boxes, boxOf, kernel, leastScore, most, keepsOrder = false } = suppression;
  let start = 0;
  let end = candidates.length;
  const limit = most < 0 ? end : Math.min(most, end);
  const isTime = pacer();
  while (start < end && start < limit) {
    let best = start;
    for (let index = start + 1; index < end; index++) {
      if (scores[candidates[index]] > scores[candidates[best]]) best = index;
      if (isTime(1)) yield;
    }
    if (keepsOrder) moveForward(candidates, best, start);
    else swap(candidates, start, best);
    const chosen = boxOf(candidates[start]);
    let kept = start + 1;
    for (let index = start + 1; index < end; index++) {
      const candidate = candidates[index];
      const factor = kernel(intersectionOverUnion(boxes, boxOf(candidate), chosen));
      if (leastScore !== undefined) scores[candidate] *= factor;
      const isDropped = leastScore === undefined ? factor === 0 : scores[candidate] < leastScore;
      if (!isDropped) candidates[kept++] = candidate;
      else if (!keepsOrder) candidates[index--] = candidates[--end];
      if (isTime(4)) yield;
    }
    end = kept;
    start++;
    if (isTime(16)) yield;
  }
  return candidates.slice(0, start);
}

/** Moves an element forward to `to`, and those between back by one place. */
function moveForward(list: number[], from: number, to: number): void {
  const moved = list[from];
  list.copyWithin(to + 1, to, from);
  list[to] = moved;
}

function swap(list: number[], a: number, b: number): void {
  const moved = list[a];
  list[a] = list[b];
  list[b] = moved;
}

/** The kernel that drops whatever overlaps as much as a threshold or more. */
export function hardKernel(threshold: number): (overlap: number) => number {
  return (overlap) => (overlap >= threshold ? 0 : 1);
}

/**
 * Chooses among classes and boxes: in each class but 0, the background, those above a score, suppressed; then the best of
 * all classes. A candidate is box · classes + class. Returns them by falling score.
 */
export function* suppressClasses(
  boxCount: number,
  classCount: number,
  scoreThreshold: number,
  mostPerClass: number,
  suppression: Suppression,
): Generator<void, number[]> {
  const { scores, most } = suppression;
  const chosen: number[] = [];
  // Without boxes there may be any number of classes.
  if (boxCount === 0) return chosen;
  const isTime = pacer();
  for (let label = 1; label < classCount; label++) {
    const candidates: number[] = [];
    for (let box = 0; box < boxCount; box++) {
      const candidate = box * classCount + label;
      if (scores[candidate] > scoreThreshold) candidates.push(candidate);
      if (isTime(1)) yield;
    }
    for (const one of yield* suppress(candidates, { ...suppression, most: mostPerClass })) chosen.push(one);
  }
  chosen.sort((a, b) => scores[b] - scores[a]);
  return most < 0 ? chosen : chosen.slice(0, most);
}
