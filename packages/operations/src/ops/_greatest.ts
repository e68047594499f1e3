/**
 * Selects the first elements in an order with a heap, in steps, because a sort cannot be cut.
 */
import type { Filled, Phase } from "../phases.ts";

/** A strict order of element indexes: returns whether one comes before another. */
export type Precedes = (a: number, b: number) => boolean;

/** The first `count` of the indexes [0, length) in an order. */
export function greatest(length: number, count: number, precedes: Precedes): Filled<Uint32Array> {
  const data = new Uint32Array(count);
  return { data, phases: [greatestOfRows(1, length, count, precedes, (_, chosen) => data.set(chosen))] };
}

/**
 * Selects the first `count` elements of each of the rows in an order over the elements of all rows. `take` gets a row's number and the
 * elements' places in it, which are valid until it returns. A unit is a step of the selection from a row.
 */
export function greatestOfRows(
  rows: number,
  length: number,
  count: number,
  precedes: Precedes,
  take: (row: number, chosen: Uint32Array) => void,
): Phase {
  const chosen = new Uint32Array(count);
  const steps = selectionSteps(length, count);
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const row = Math.floor(unit / steps);
      const at = row * length;
      selectStep(chosen, length, unit % steps, (a, b) => precedes(at + a, at + b));
      if (unit % steps === steps - 1) take(row, chosen);
    }
  };
  return { units: rows * steps, cost: costOfStep(count), inTurn: true, compute };
}

/** The same at once, for few elements. */
export function greatestNow(length: number, count: number, precedes: Precedes): Uint32Array {
  const chosen = new Uint32Array(count);
  const steps = selectionSteps(length, count);
  for (let step = 0; step < steps; step++) selectStep(chosen, length, step, precedes);
  return chosen;
}

/** The number of steps in which the first `count` of `length` elements are selected. */
function selectionSteps(length: number, count: number): number {
  return count === 0 ? 0 : (count >> 1) + length;
}

/** The cost of a step: comparisons from the root of the heap down. */
function costOfStep(count: number): number {
  return 4 * Math.ceil(Math.log2(count + 2));
}

/**
 * Does one step of the selection, which begins with step 0. The first steps make a heap of the first indexes, whose root is the last in the
 * order; the next ones let each other index replace the root if it comes before it; the last ones sort the heap.
 */
function selectStep(heap: Uint32Array, length: number, step: number, precedes: Precedes): void {
  const count = heap.length;
  const half = count >> 1;
  if (step === 0) for (let place = 0; place < count; place++) heap[place] = place;
  if (step < half) {
    sink(heap, half - 1 - step, count, precedes);
    return;
  }
  const place = step - half + count;
  if (place < length) {
    if (!precedes(place, heap[0])) return;
    heap[0] = place;
    sink(heap, 0, count, precedes);
    return;
  }
  const end = count - 1 - (place - length);
  const last = heap[0];
  heap[0] = heap[end];
  heap[end] = last;
  sink(heap, 0, end, precedes);
}

/** Lets the element at `root` sink until none below it comes after it. */
function sink(heap: Uint32Array, root: number, end: number, precedes: Precedes): void {
  const moved = heap[root];
  for (;;) {
    let below = 2 * root + 1;
    if (below >= end) break;
    if (below + 1 < end && precedes(heap[below], heap[below + 1])) below++;
    if (!precedes(moved, heap[below])) break;
    heap[root] = heap[below];
    root = below;
  }
  heap[root] = moved;
}
