/**
 * Copies of elements at places that are computed for each axis.
 */
import type { Phase } from "../phases.ts";
import { extentProduct, stridesOf } from "../shape.ts";
import type { TensorData } from "../tensor.ts";

/**
 * target[i0, i1, …] = source[places[0][i0], places[1][i1], …]: the list of an axis has a place along that axis of the source for each place
 * along that axis of the target. At least one axis.
 */
export function copyPicked(
  source: TensorData,
  dimensions: readonly number[],
  places: readonly Int32Array[],
  target: TensorData,
): Phase {
  const strides = stridesOf(dimensions);
  const last = places.length - 1;
  const inner = places[last];
  const outer = extentProduct(
    places.map(({ length }) => length),
    0,
    last,
  );
  const startOf = (row: number) => {
    let start = 0;
    for (let axis = last - 1, rest = row; axis >= 0; axis--) {
      const list = places[axis];
      start += list[rest % list.length] * strides[axis];
      rest = Math.floor(rest / list.length);
    }
    return start;
  };
  const { length } = inner;
  return {
    units: outer,
    cost: 4 * (length + last),
    compute(first, end) {
      for (let row = first; row < end; row++) {
        const start = startOf(row);
        for (let index = 0; index < length; index++) target[row * length + index] = source[start + inner[index]];
      }
    },
  };
}
