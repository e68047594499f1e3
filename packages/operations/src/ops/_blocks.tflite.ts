/**
 * Blocks of the spatial axes of images [batches, …, channels], for SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND.
 */
import { ensure } from "../fail.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import type { Pad } from "./_pads.ts";

/** The extents of a block, one for each spatial axis. */
export function blockOf({ data, dimensions }: Tensor, image: TensorInfo): readonly number[] {
  ensureShape("the block", { dimensions }, [spatialAxes(image)]);
  const sizes = Array.from(data);
  ensure(
    sizes.every((size) => size >= 1),
    () => `the block: expected extents of at least 1, got ${sizes.join("x")}`,
  );
  return sizes;
}

/** The numbers before and after each axis of an image, of a tensor with those of the spatial axes. `name`: its name in messages. */
export function spatialPairs(name: string, { data, dimensions }: Tensor, image: TensorInfo): readonly Pad[] {
  const count = spatialAxes(image);
  ensureShape(name, { dimensions }, [count, 2]);
  const pairs = Array.from({ length: count }, (_, axis): Pad => [data[2 * axis], data[2 * axis + 1]]);
  ensure(Math.min(...data) >= 0, () => `${name}, [${pairs.join("], [")}], have a number of less than 0`);
  return [[0, 0], ...pairs, [0, 0]];
}

/** `spatialPairs` of zeros. */
export function noPairs({ dimensions }: TensorInfo): readonly Pad[] {
  return dimensions.map(() => [0, 0]);
}

/** extent / divisor. Throws an OperationError if there is a remainder. */
export function wholePart(what: string, extent: number, divisor: number): number {
  ensure(extent % divisor === 0, () => `${what}, ${extent}, is not a multiple of ${divisor}`);
  return extent / divisor;
}

/** The elements of two lists in turn. */
export function interleave(a: readonly number[], b: readonly number[]): readonly number[] {
  return a.flatMap((each, index) => [each, b[index]]);
}

function spatialAxes({ dimensions }: TensorInfo): number {
  return dimensions.length - 2;
}
