/**
 * Padding of whole tensors: reading the paddings operand, and the padded copy.
 */
import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorData, TensorInfo } from "../tensor.ts";
import { fillElements } from "./_copies.ts";
import { place } from "./_rearrange.ts";

/** Elements to add in front of an axis and behind it. */
export type Pad = readonly [before: number, after: number];

/** The pads of an INT32 tensor of shape [axes, 2]. */
export function padsOf({ data, dimensions }: Tensor, axes: number): readonly Pad[] {
  ensureShape("the paddings", { dimensions }, [axes, 2]);
  return Array.from({ length: axes }, (_, axis): Pad => {
    const before = data[2 * axis];
    const after = data[2 * axis + 1];
    ensure(before >= 0 && after >= 0, () => `padding ${before} and ${after} of axis ${axis} is less than 0`);
    return [before, after];
  });
}

/** A shape with pads added. */
export function paddedShape(dimensions: readonly number[], pads: readonly Pad[]): readonly number[] {
  return dimensions.map((extent, axis) => pads[axis][0] + extent + pads[axis][1]);
}

/** Fills a target of the padded shape: the input's elements, and `value` around them; undefined: the target's own elements. */
export function pad(
  { data, dimensions }: Tensor,
  pads: readonly Pad[],
  value: number | undefined,
  target: TensorData,
): readonly Phase[] {
  const offsets = pads.map(([before]) => before);
  const copy = place(data, dimensions, target, paddedShape(dimensions, pads), offsets);
  return value === undefined ? [copy] : [fillElements(target, value), copy];
}

/**
 * The HAL version that padding with the logical zero needs beyond that of the types: before 1.2 the stored value was
 * undefined, so that only a zero point of 0 is sure to be the same everywhere.
 */
export function logicalZeroSince({ type, zeroPoint }: TensorInfo): "1.2" | undefined {
  return type === "TENSOR_QUANT8_ASYMM" && zeroPoint !== 0 ? "1.2" : undefined;
}
