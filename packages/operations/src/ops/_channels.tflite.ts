/**
 * The scale of each element.
 */

import { ensure } from "../fail.ts";
import { extentProduct } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";

/** The scale of an element by its index: that of its channel, or the tensor's. */
export function channelsOf({ scale, channelQuant, dimensions }: TensorInfo): (index: number) => number {
  if (channelQuant === undefined) return () => scale;
  const { channelDim, scales } = channelQuant;
  ensure(
    scales.length === dimensions[channelDim],
    () => `there are ${scales.length} scales where axis ${channelDim} has extent ${dimensions[channelDim]}`,
  );
  const inner = extentProduct(dimensions, channelDim + 1);
  return (index) => scales[Math.floor(index / inner) % scales.length];
}
