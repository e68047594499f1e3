/**
 * Boxes of the detection operations: four numbers each, two corners. Their common rules, overlap, and the suppression of
 * boxes that overlap a better one.
 */
import { ensure } from "../fail.ts";
import { type Filled, stepsInTurn } from "../phases.ts";
import type { TensorInfo } from "../tensor.ts";

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
  // No factor gives an extent of 0 another: not even an infinite one.
  const halfOf = (extent: number, delta: number) => (extent === 0 ? 0 : (Math.exp(delta) * extent) / 2);
  const halfWidth = halfOf(width, deltas[deltaAt + 2]);
  const halfHeight = halfOf(height, deltas[deltaAt + 3]);
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

/** A suppression under way. */
export interface Suppressing extends Suppression {
  /** First the chosen ones, in the order of choice; then those that are left. */
  readonly candidates: number[];
  chosen: number;
  left: number;
}

/** Begins a suppression, of which `choose` does the steps. */
export function startSuppression(candidates: number[], suppression: Suppression): Suppressing {
  return { ...suppression, candidates, chosen: 0, left: candidates.length };
}

/**
 * Chooses the best candidate left, whose overlap then lowers the scores of the others; returns false if there is none to choose. Among equal
 * scores the first wins; unless `keepsOrder` is set, a dropped candidate changes places with the last, as the expected results of
 * the conformance vectors require.
 */
export function choose(state: Suppressing): boolean {
  const { candidates, scores, boxes, boxOf, kernel, leastScore, most, keepsOrder = false, chosen: start } = state;
  let { left: end } = state;
  if (start >= end || start === most) return false;
  let best = start;
  for (let index = start + 1; index < end; index++) {
    if (scores[candidates[index]] > scores[candidates[best]]) best = index;
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
  }
  state.left = kept;
  state.chosen = start + 1;
  return true;
}

/** The candidates that have been chosen. */
export function findChosen({ candidates, chosen }: Suppressing): number[] {
  return candidates.slice(0, chosen);
}

/** The cost of a step of a suppression of this many candidates: their scores and overlaps. */
export function costOfChoice(candidates: number): number {
  return 16 * (candidates + 1);
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
 * all classes. A candidate is box · classes + class. They are by falling score.
 */
export function suppressClasses(
  boxCount: number,
  classCount: number,
  scoreThreshold: number,
  mostPerClass: number,
  suppression: Suppression,
): Filled<number[]> {
  const { scores, most } = suppression;
  const chosen: number[] = [];
  // Without boxes there may be any number of classes.
  if (boxCount === 0) return { data: chosen, phases: [] };
  let label = 1;
  let ofClass: Suppressing | undefined;
  const step = () => {
    if (ofClass && choose(ofClass)) return true;
    for (const one of ofClass ? findChosen(ofClass) : []) chosen.push(one);
    if (label < classCount) {
      const candidates = candidatesOf(label++, boxCount, classCount, scores, scoreThreshold);
      ofClass = startSuppression(candidates, { ...suppression, most: mostPerClass });
      return true;
    }
    chosen.sort((a, b) => scores[b] - scores[a]);
    if (most >= 0) chosen.splice(most);
    return false;
  };
  return { data: chosen, phases: [stepsInTurn(step, costOfChoice(boxCount))] };
}

/** The candidates of a class whose score is above a threshold. */
function candidatesOf(
  label: number,
  boxCount: number,
  classCount: number,
  scores: Float64Array,
  threshold: number,
): number[] {
  const candidates: number[] = [];
  for (let box = 0; box < boxCount; box++) {
    const candidate = box * classCount + label;
    if (scores[candidate] > threshold) candidates.push(candidate);
  }
  return candidates;
}
