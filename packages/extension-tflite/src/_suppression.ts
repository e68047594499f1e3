/**
 * Non-maximum suppression: the boxes with the best scores that do not overlap too much.
 */
import { ensure, type TensorData } from "@nnhal/operations";
import { pacer } from "@nnhal/operations/authoring";

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

interface Candidate {
  readonly box: number;
  score: number;
  /** The chosen boxes before this one have been compared with it. */
  compared: number;
}

/** Writes the chosen boxes, best first, and their scores; returns how many they are. The results' length is the most that are chosen. */
export function* suppress(
  { boxes, scores, iouThreshold, scoreThreshold, sigma }: Boxes,
  chosen: TensorData,
  chosenScores: TensorData | undefined,
): Generator<void, number> {
  ensure(sigma >= 0, () => `sigma: expected a number of at least 0, got ${sigma}`);
  const isTime = pacer();
  const sorted = new Float64Array(5 * scores.length);
  for (let box = 0; box < scores.length; box++) {
    storeCorners(boxes, box, sorted);
    if (isTime(1)) yield;
  }
  const heap: Candidate[] = [];
  for (let box = 0; box < scores.length; box++) {
    if (scores[box] > scoreThreshold) push(heap, { box, score: scores[box], compared: 0 });
    if (isTime(1)) yield;
  }
  const most = Math.min(heap.length, chosen.length);
  const scale = sigma > 0 ? Math.fround(-0.5 / sigma) : 0;
  let count = 0;
  while (count < most) {
    const candidate = pop(heap);
    if (candidate === undefined) break;
    const { score: before } = candidate;
    let isSuppressed = false;
    for (let other = count - 1; other >= candidate.compared; other--) {
      if (isTime(4)) yield;
      const iou = overlap(sorted, candidate.box, chosen[other]);
      isSuppressed = iou >= iouThreshold;
      if (isSuppressed) break;
      if (sigma > 0)
        candidate.score = Math.fround(
          candidate.score * Math.fround(Math.exp(Math.fround(Math.fround(scale * iou) * iou))),
        );
      if (candidate.score <= scoreThreshold) break;
    }
    candidate.compared = count;
    if (isTime(1)) yield;
    if (isSuppressed) continue;
    if (candidate.score === before) {
      chosen[count] = candidate.box;
      if (chosenScores !== undefined) chosenScores[count] = candidate.score;
      count++;
    }
    // A chosen box comes again, and is suppressed by itself, unless it is empty: an empty box is chosen again, as .tflite does.
    if (candidate.score > scoreThreshold) push(heap, candidate);
  }
  return count;
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

/** Returns whether a candidate comes before another one: by score, then by the index of the box. */
function precedes(a: Candidate, b: Candidate): boolean {
  return a.score === b.score ? a.box < b.box : a.score > b.score;
}

function push(heap: Candidate[], candidate: Candidate): void {
  let place = heap.length;
  heap.push(candidate);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (!precedes(candidate, heap[parent])) break;
    heap[place] = heap[parent];
    place = parent;
  }
  heap[place] = candidate;
}

function pop(heap: Candidate[]): Candidate | undefined {
  const first = heap[0];
  const moved = heap.pop();
  if (moved === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let below = 2 * place + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && precedes(heap[below + 1], heap[below])) below++;
    if (!precedes(heap[below], moved)) break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = moved;
  return first;
}
