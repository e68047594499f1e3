/**
 * Non-maximum suppression: the boxes with the best scores that do not overlap too much.
 */
import { ensure } from "../fail.ts";
import { type Phase, stepsInTurn } from "../phases.ts";
import type { OutputTensor, TensorData } from "../tensor.ts";

/** Boxes [y1, x1, y2, x2], their scores, and the limits. */
export interface Boxes {
  readonly boxes: TensorData;
  readonly scores: TensorData;
  /** Boxes that overlap a chosen one by this part of their union or more are suppressed. */
  readonly iouThreshold: number;
  /** Only boxes with greater scores are chosen. */
  readonly scoreThreshold: number;
  /** Lowers the scores of boxes that overlap chosen ones; 0: no score changes. */
  readonly sigma: number;
}

/** The outputs of a suppression. Its first output has as many places as boxes are chosen at most. */
export interface ChosenBoxes {
  readonly selectedIndices: OutputTensor;
  readonly selectedScores?: OutputTensor;
  readonly numSelected: OutputTensor;
}

/**
 * Writes the chosen boxes, best first, their scores, and how many they are. The best box that is left is compared with the chosen ones, the last
 * first: it is dropped if iou ≥ iouThreshold, and each time its score becomes score · exp(-½ · iou² / sigma). If the score has changed, it goes
 * back among those that are left.
 */
export function suppress(
  { boxes, scores, iouThreshold, scoreThreshold, sigma }: Boxes,
  { selectedIndices: { data: chosen }, selectedScores, numSelected }: ChosenBoxes,
): Phase[] {
  ensure(sigma >= 0, () => `sigma: expected a number of at least 0, got ${sigma}`);
  const sorted = new Float64Array(5 * scores.length);
  const current = new Float64Array(scores.length);
  // The place of the first chosen box that a box has not been compared with.
  const compared = new Uint32Array(scores.length);
  const heap: number[] = [];
  let most = 0;
  const collect = (first: number, end: number) => {
    for (let box = first; box < end; box++) {
      storeCorners(boxes, box, sorted);
      current[box] = scores[box];
      if (current[box] > scoreThreshold) push(heap, current, box);
    }
    most = Math.min(heap.length, chosen.length);
  };
  const scale = sigma > 0 ? Math.fround(-0.5 / sigma) : 0;
  let count = 0;
  let box: number | undefined;
  let before = 0;
  let other = 0;
  /** Takes the best box, compares it with one chosen box, or ends with it. */
  const step = () => {
    if (box === undefined) {
      box = count < most ? pop(heap, current) : undefined;
      if (box === undefined) return false;
      before = current[box];
      other = count - 1;
      return true;
    }
    if (other >= compared[box]) {
      const iou = overlap(sorted, box, chosen[other--]);
      if (iou >= iouThreshold) {
        box = undefined;
        return true;
      }
      if (sigma > 0) current[box] = lowerScore(current[box], iou, scale);
      if (current[box] > scoreThreshold) return true;
    }
    compared[box] = count;
    if (current[box] === before) {
      chosen[count] = box;
      if (selectedScores !== undefined) selectedScores.data[count] = before;
      numSelected.data[0] = ++count;
    }
    // A chosen box comes again, and is suppressed by itself, unless it is empty: an empty box is chosen again, as .tflite does.
    if (current[box] > scoreThreshold) push(heap, current, box);
    box = undefined;
    return true;
  };
  return [{ units: scores.length, cost: 64, inTurn: true, compute: collect }, stepsInTurn(step, 32)];
}

/** score · exp(scale · iou²), in float32. */
function lowerScore(score: number, iou: number, scale: number): number {
  return Math.fround(score * Math.fround(Math.exp(Math.fround(Math.fround(scale * iou) * iou))));
}

/** Writes [top, left, bottom, right, area] of a box to its place among those of all boxes. The area is computed in float32. */
function storeCorners(boxes: TensorData, box: number, sorted: Float64Array): void {
  const [y1, x1, y2, x2] = boxes.subarray(4 * box, 4 * box + 4);
  const [top, left, bottom, right] = [Math.min(y1, y2), Math.min(x1, x2), Math.max(y1, y2), Math.max(x1, x2)];
  const area = Math.fround(Math.fround(bottom - top) * Math.fround(right - left));
  sorted.set([top, left, bottom, right, area], 5 * box);
}

/** The part of the union of two boxes that both have; 0 if one of them is empty. Computed in float32. */
function overlap(sorted: Float64Array, box: number, other: number): number {
  const [a, b] = [5 * box, 5 * other];
  const [area, otherArea] = [sorted[a + 4], sorted[b + 4]];
  if (area <= 0 || otherArea <= 0) return 0;
  const height = Math.fround(Math.min(sorted[a + 2], sorted[b + 2]) - Math.max(sorted[a], sorted[b]));
  const width = Math.fround(Math.min(sorted[a + 3], sorted[b + 3]) - Math.max(sorted[a + 1], sorted[b + 1]));
  const both = Math.fround(Math.max(height, 0) * Math.max(width, 0));
  return Math.fround(both / Math.fround(Math.fround(area + otherArea) - both));
}

/** Returns whether a box comes before another one: by score, then by index. */
function precedes(scores: TensorData, box: number, other: number): boolean {
  return scores[box] === scores[other] ? box < other : scores[box] > scores[other];
}

/** Adds a box to a heap, whose root is the best. */
export function push(heap: number[], scores: TensorData, box: number): void {
  let place = heap.length;
  heap.push(box);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (!precedes(scores, box, heap[parent])) break;
    heap[place] = heap[parent];
    place = parent;
  }
  heap[place] = box;
}

/** Takes the best box from a heap. */
export function pop(heap: number[], scores: TensorData): number | undefined {
  const first = heap[0];
  const moved = heap.pop();
  if (moved === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let below = 2 * place + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && precedes(scores, heap[below + 1], heap[below])) below++;
    if (!precedes(scores, heap[below], moved)) break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = moved;
  return first;
}
