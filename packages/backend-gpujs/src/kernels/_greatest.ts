/** The greatest elements of rows, found on the host: a heap of k places, whose root is the last of them in the order. */

/** The greatest elements of each row, and their places in it. */
export interface Greatest {
  readonly values: Float32Array;
  readonly places: Float32Array;
}

/** Elements between two pauses; a few milliseconds of work. */
const ELEMENTS_BETWEEN_PAUSES = 1 << 14;

/**
 * The k greatest elements of each row of `length` elements, greatest first; of equal elements the one with the larger index comes
 * first, as the HAL says, and NaN comes last. Takes O(length · log k) for a row, and pauses after some thousands of elements.
 */
export function* greatestOf(elements: Float32Array, length: number, k: number): Generator<void, Greatest> {
  const rows = elements.length / length;
  const values = new Float32Array(rows * k);
  const places = new Float32Array(rows * k);
  const heap = new Uint32Array(k);
  let row = 0;
  /** Whether the element at a place comes behind that at another one. */
  const isBehind = (left: number, right: number): boolean => {
    const [a, b] = [elements[row + left], elements[row + right]];
    if (a < b) return true;
    if (a > b) return false;
    const isNumber = !Number.isNaN(a);
    return isNumber === !Number.isNaN(b) ? left < right : !isNumber;
  };
  /** Puts a place into the heap of `size` places, from `at` downwards: none is behind the one above it. */
  const sink = (place: number, at: number, size: number): void => {
    let hole = at;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= size) break;
      if (child + 1 < size && isBehind(heap[child + 1], heap[child])) child++;
      if (!isBehind(heap[child], place)) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = place;
  };
  let work = 0;
  const isPauseDue = (): boolean => {
    if (++work < ELEMENTS_BETWEEN_PAUSES) return false;
    work = 0;
    return true;
  };
  for (let write = 0; write < values.length; write += k, row += length) {
    for (let place = 0; place < k; place++) heap[place] = place;
    for (let at = (k >> 1) - 1; at >= 0; at--) {
      sink(heap[at], at, k);
      if (isPauseDue()) yield;
    }
    for (let place = k; place < length; place++) {
      if (isBehind(heap[0], place)) sink(place, 0, k);
      if (isPauseDue()) yield;
    }
    for (let size = k - 1; size >= 0; size--) {
      const last = heap[0];
      sink(heap[size], 0, size);
      values[write + size] = elements[row + last];
      places[write + size] = last;
      if (isPauseDue()) yield;
    }
  }
  return { values, places };
}
