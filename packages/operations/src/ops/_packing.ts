/**
 * Joining tensors of one shape along a new axis.
 */
import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import { formatShape, sameShape } from "../shape.ts";
import type { TensorData, TensorInfo } from "../tensor.ts";
import { copyWholeRun, costOfRun } from "./_runs.ts";

/** Throws an OperationError if tensors differ in shape, scale or zero point. */
export function ensureAlike(values: readonly TensorInfo[]): void {
  const [{ dimensions, scale, zeroPoint }] = values;
  values.forEach((value, position) => {
    ensure(
      sameShape(value.dimensions, dimensions),
      () =>
        `value ${position}: expected value 0's shape ${formatShape(dimensions)}, got ${formatShape(value.dimensions)}`,
    );
    ensure(
      value.scale === scale && value.zeroPoint === zeroPoint,
      () =>
        `value ${position}: expected value 0's scale ${scale} and zero point ${zeroPoint}, got ${value.scale} and ${value.zeroPoint}`,
    );
  });
}

/** target[o, v, i] = sources[v][o, i] for runs of `inner` elements. */
export function interleave(sources: readonly TensorData[], inner: number, target: TensorData): readonly Phase[] {
  return sources.map((source, position) => ({
    units: inner === 0 ? 0 : source.length / inner,
    cost: costOfRun(inner),
    compute(first, end) {
      for (let run = first; run < end; run++) {
        copyWholeRun(source, run * inner, inner, target, (run * sources.length + position) * inner);
      }
    },
  }));
}
