/** The greatest elements of rows, computed on the host with a heap of k places. Its root is the last of them in the order. */

/** The greatest elements of each row, and their places in it. */
export interface Greatest {
  readonly values: Float32Array;
  readonly places: Float32Array;
}

/** Elements between two pauses; one or two milliseconds of work. */
const ELEMENTS_BETWEEN_PAUSES = 1 << 12;

/**
 * The k greatest elements of each row of `length` elements, greatest first; of equal elements the one with the larger index comes
 * first, as the HAL says, and NaN comes last. Takes O(length · log k) for a row, and pauses after some thousands of elements.
 */
export function* greatestOf(elements: Float32Array, length: number, k: number): Generator<void, Greatest> {
  const rows = elements.length / length;
  const values = new Float32Array(rows * k);
  const places = new Float32Array(rows * k);
  const keys = new Int32Array(length);
  const heap = new Int32Array(k);
  let work = 0;
  const isPauseDue = (): boolean => {
    if (++work < ELEMENTS_BETWEEN_PAUSES) return false;
    work = 0;
    return true;
  };
  for (let row = 0, write = 0; row < elements.length; row += length, write += k) {
    setKeys(keys, elements.subarray(row, row + length));
    for (let place = 0; place < k; place++) heap[place] = place;
    for (let at = (k >> 1) - 1; at >= 0; at--) {
      sink(heap, keys, heap[at], at, k);
      if (isPauseDue()) yield;
    }
    for (let place = k; place < length; place++) {
      if (isBehind(keys, heap[0], place)) sink(heap, keys, place, 0, k);
      if (isPauseDue()) yield;
    }
    for (let size = k - 1; size >= 0; size--) {
      const last = heap[0];
      sink(heap, keys, heap[size], 0, size);
      values[write + size] = elements[row + last];
      places[write + size] = last;
      if (isPauseDue()) yield;
    }
  }
  return { values, places };
}

/** Whole numbers that have the order of float32 elements: their bits, reversed for negative numbers. */
function setKeys(keys: Int32Array, elements: Float32Array): void {
  const bits = new Int32Array(new Float32Array(elements).buffer);
  for (let place = 0; place < keys.length; place++) {
    const element = elements[place];
    // -0 is 0.
    if (element === 0) keys[place] = 0;
    else if (Number.isNaN(element)) keys[place] = -0x8000_0000;
    else keys[place] = bits[place] < 0 ? bits[place] ^ 0x7fff_ffff : bits[place];
  }
}

/** Returns whether the element at one index is ordered after the element at another. */
function isBehind(keys: Int32Array, left: number, right: number): boolean {
  return keys[left] < keys[right] || (keys[left] === keys[right] && left < right);
}

/** Inserts a place into a heap of `size` places, from `at` downwards. No place in the heap comes after its parent. */
function sink(heap: Int32Array, keys: Int32Array, place: number, at: number, size: number): void {
  let hole = at;
  for (;;) {
    let child = 2 * hole + 1;
    if (child >= size) break;
    if (child + 1 < size && isBehind(keys, heap[child + 1], heap[child])) child++;
    if (!isBehind(keys, heap[child], place)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = place;
}
