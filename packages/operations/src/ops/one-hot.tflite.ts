/**
 * ONE_HOT: each index as a row with one value at its place and another at all others.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, read, tensor, wide } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { fillElements } from "./_copies.ts";
import { withoutScalar } from "./_gathered.tflite.ts";
import { indexTypes, movable, numbersOf, oneNumber } from "./_integers.tflite.ts";
import { depthTypes } from "./_types.tflite.ts";

export const oneHot = defineOperation({
  name: "ONE_HOT",
  code: 1085,
  summary: "Each index as a row of depth elements along a new axis: onValue at the index, offValue elsewhere.",
  params: [
    wide(tensor("indices")),
    read(tensor("depth", "TENSOR_INT32")),
    wide(tensor("onValue")),
    wide(tensor("offValue")),
    int32("axis"),
  ],
  outputs: [wide(tensor("output"))],
  types: [...depthTypes, "TENSOR_BOOL8" as const].flatMap((type) =>
    indexTypes.map((index) => ["1.2", index, type, type, type] as const),
  ),
  infer({ indices, depth, axis, onValue: { scale, zeroPoint } }, { output }) {
    const { dimensions } = indices;
    const count = oneNumber("depth", depth);
    ensure(count >= 0, () => `the depth is ${count}, less than 0`);
    const place = axisOf(axis, dimensions.length);
    const shape = [...dimensions.slice(0, place), count, ...dimensions.slice(place)];
    return { output: { dimensions: withoutScalar(shape, indices, [count], output), scale, zeroPoint } };
  },
  reference({ indices, depth, onValue, offValue, axis }, { output }) {
    for (const [name, { data }] of Object.entries({ onValue, offValue })) {
      ensure(data.length === 1, () => `${name}: expected 1 element, got ${data.length}`);
    }
    const target = movable(output.data);
    const on = movable(onValue.data)[0];
    const count = oneNumber("depth", depth);
    const places = numbersOf(indices.data);
    const inner = extentProduct(indices.dimensions, axisOf(axis, indices.dimensions.length));
    const compute = (first: number, end: number) => {
      for (let position = first; position < end; position++) {
        const index = places[position];
        if (!(index >= 0 && index < count)) continue;
        const column = position % inner;
        target[(position - column) * count + index * inner + column] = on;
      }
    };
    return [fillElements(target, movable(offValue.data)[0]), { units: places.length, compute }];
  },
});

/** The place of the new axis; -1 is behind all others. */
function axisOf(axis: number, rank: number): number {
  const place = axis === -1 ? rank : axis;
  ensure(place >= 0 && place <= rank, () => `axis ${axis} is outside [-1, ${rank}]`);
  return place;
}
