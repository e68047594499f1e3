/**
 * Selects the first elements in an order with a heap, because a sort cannot pause.
 */
import { pacer } from "./_chunks.ts";

/** A strict order of element indexes: returns whether one comes before another. */
export type Precedes = (a: number, b: number) => boolean;

/** Returns the first `count` of the indexes [0, length) in an order. Pauses between comparisons. */
export function* greatest(length: number, count: number, precedes: Precedes): Generator<void, Uint32Array> {
  // The root is the last of the chosen: the one that gives way.
  const heap = new Uint32Array(count);
  if (count === 0) return heap;
  const isTime = pacer();
  const depth = Math.ceil(Math.log2(count + 1));
  for (let place = 0; place < count; place++) heap[place] = place;
  for (let root = (count >> 1) - 1; root >= 0; root--) {
    sink(heap, root, count, precedes);
    if (isTime(depth)) yield;
  }
  for (let place = count; place < length; place++) {
    const gives = precedes(place, heap[0]);
    if (gives) {
      heap[0] = place;
      sink(heap, 0, count, precedes);
    }
    if (isTime(gives ? depth : 1)) yield;
  }
  for (let end = count - 1; end > 0; end--) {
    const last = heap[0];
    heap[0] = heap[end];
    heap[end] = last;
    sink(heap, 0, end, precedes);
    if (isTime(depth)) yield;
  }
  return heap;
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
