/**
 * UNIQUE: the different elements of a list, in the order of their first occurrence.
 */

import { defineOperation } from "../define.ts";
import { int32, tensor, wide } from "../params.ts";
import { resize, type TensorData } from "../tensor.ts";
import { fillElements } from "./_copies.ts";
import { indexTypes, movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { integerStore } from "./_store.tflite.ts";
import { splitTypes } from "./_types.tflite.ts";

export const unique = defineOperation({
  name: "UNIQUE",
  code: 1103,
  summary:
    "The different elements of a list in the order of their first occurrence, and for each element of the list its place among them.",
  params: [wide(tensor("input")), int32("idxOutType")],
  outputs: [wide(tensor("values")), wide(tensor("indices"))],
  types: splitTypes.flatMap((type) => indexTypes.map((index) => ["1.2", type, type, index] as const)),
  ranks: { input: 1 },
  dynamic: true,
  infer: ({ input }) => ({ values: movedInfo(input, [0]), indices: { dimensions: input.dimensions } }),
  /** values[indices[i]] = input[i], each value once. */
  reference({ input: { data, dimensions } }, { values, indices }) {
    resize(indices, dimensions);
    const store = integerStore(indices.data);
    const source = movable(data);
    const { find, firsts, slots } = createFinder(source);
    let count = 0;
    const number = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        const place = find(index, count);
        if (place === count) count++;
        store(index, place);
      }
    };
    const write = (first: number, end: number) => {
      const target = movable(values.data);
      for (let place = first; place < end; place++) {
        const element = source[firsts[place]];
        // 0 for -0, which is the same.
        target[place] = element === 0 ? 0 : element;
      }
    };
    return [
      // The system gives a page of memory when it is first written, which takes microseconds; the first range would write to thousands.
      fillElements(slots, 0),
      { units: source.length, cost: 64, inTurn: true, compute: number },
      { units: 1, compute: () => resize(values, [count]) },
      {
        get units() {
          return count;
        },
        compute: write,
      },
    ];
  },
});

/**
 * Finds the place of an element among the different ones before it. A new element gets the next place, `count`. The hash table has its full size
 * from the start: a Map copies all of its entries at once when it grows, which takes long.
 */
function createFinder(source: TensorData) {
  const bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  const width = source.BYTES_PER_ELEMENT;
  /** The index of the first element of each place. */
  const firsts = new Uint32Array(source.length);
  /** Places, plus 1; 0: none. At most half of the slots are taken. */
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * source.length + 1)));
  const hashOf = (index: number) => {
    let hash = 0;
    // 0 and -0 are the same, and so is each NaN.
    if (source[index] === 0 || Number.isNaN(source[index])) return hash;
    for (let at = index * width; at < (index + 1) * width; at++) hash = Math.imul(hash ^ bytes[at], 0x0100_0193);
    return hash ^ (hash >>> 15);
  };
  const find = (index: number, count: number) => {
    const element = source[index];
    for (let slot = hashOf(index); ; slot++) {
      slot &= slots.length - 1;
      const place = slots[slot] - 1;
      if (place < 0) {
        slots[slot] = count + 1;
        firsts[count] = index;
        return count;
      }
      const other = source[firsts[place]];
      if (other === element || (Number.isNaN(other) && Number.isNaN(element))) return place;
    }
  };
  return { find, firsts, slots };
}
