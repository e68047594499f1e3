/**
 * Operations along one axis: the elements that belong together are a lane.
 */
import { extentProduct, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { pacer } from "@nnhal/operations/authoring";

/** Calls a function with the index of each element of a lane, in order. Pauses every few milliseconds. */
export type EachOfLane = (visit: (index: number) => void) => Generator<void, void>;

/** Runs a kernel for each lane along an axis. */
export function* eachLane(
  { dimensions }: TensorInfo,
  axis: number,
  kernel: (each: EachOfLane) => Generator<void, void>,
): Generator<void, void> {
  const along = resolveAxis(axis, dimensions.length);
  const step = extentProduct(dimensions, along + 1);
  const block = step * dimensions[along];
  const blocks = extentProduct(dimensions, 0, along);
  const isTime = pacer();
  for (let index = 0; index < blocks; index++) {
    const end = (index + 1) * block;
    for (let first = index * block; first < index * block + step; first++) {
      yield* kernel(function* (visit) {
        for (let at = first; at < end; at += step) {
          visit(at);
          if (isTime(1)) yield;
        }
      });
    }
  }
}
