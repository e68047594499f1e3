/**
 * Selects the first elements in an order with a heap, in steps, because a sort cannot be cut.
 */
import { type Filled, type Phase, runToEnd } from "../phases.ts";

/** A strict order of element indexes: returns whether one comes before another. */
export type Precedes = (a: number, b: number) => boolean;

/** The first `count` of the indexes [0, length) in an order. */
export function greatest(length: number, count: number, precedes: Precedes): Filled<Int32Array> {
  const data = new Int32Array(count);
  return { data, phases: [greatestOfRows(1, length, count, precedes, (_, chosen) => data.set(chosen))] };
}

/** The same at once, for few elements. */
export function greatestNow(length: number, count: number, precedes: Precedes): Int32Array {
  const { data, phases } = greatest(length, count, precedes);
  runToEnd(phases);
  return data;
}

/** An empty place of a heap: it comes after all elements. */
const EMPTY = -1;

/**
 * Selects the first `count` elements of each of the rows in an order over the elements of all rows. `take` gets a row's number and the
 * elements' places in it, which are valid until it returns. A unit is a step of the selection from a row: each element takes the place of the root
 * of a heap, which is the last one in the order so far, if it comes before it; then the heap is sorted from its end.
 */
export function greatestOfRows(
  rows: number,
  length: number,
  count: number,
  precedes: Precedes,
  take: (row: number, chosen: Int32Array) => void,
): Phase {
  const heap = new Int32Array(count);
  const steps = count && length + count;
  let at = 0;
  const isBefore: Precedes = (a, b) => b === EMPTY || (a !== EMPTY && precedes(at + a, at + b));
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const row = Math.floor(unit / steps);
      const step = unit - row * steps;
      at = row * length;
      if (step === 0) heap.fill(EMPTY);
      if (step < length) {
        if (isBefore(step, heap[0])) sink(heap, step, count, isBefore);
        continue;
      }
      const rest = steps - 1 - step;
      const last = heap[rest];
      heap[rest] = heap[0];
      sink(heap, last, rest, isBefore);
      if (rest === 0) take(row, heap);
    }
  };
  // A step compares from the root of the heap down.
  return { units: rows * steps, cost: 4 * Math.ceil(Math.log2(count + 2)), inTurn: true, compute };
}

/** Puts an element in place of the root, and lets it sink until none below it comes after it. */
function sink(heap: Int32Array, element: number, end: number, precedes: Precedes): void {
  let place = 0;
  for (let below = 1; below < end; below = 2 * place + 1) {
    if (below + 1 < end && precedes(heap[below], heap[below + 1])) below++;
    if (!precedes(element, heap[below])) break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = element;
}
