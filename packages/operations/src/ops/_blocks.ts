/**
 * Operations that trade pixels for channels or batches, block by block: their operand lists, and their inputs seen with
 * the blocks as axes of their own.
 */
import { ensure } from "../fail.ts";
import type { Tensor } from "../tensor.ts";

/** Height and width of a block. */
export type Block = readonly [height: number, width: number];

/** The block of an INT32 scalar that is its height and its width. */
export function squareBlock(size: number): Block {
  ensure(size >= 1, () => `the block size: expected at least 1, got ${size}`);
  return [size, size];
}

/** The block of an INT32 tensor of two. */
export function blockOf({ data }: Tensor): Block {
  ensure(data.length === 2, () => `the block: expected 2 extents (height and width), got ${data.length}`);
  const [height, width] = data;
  ensure(height >= 1 && width >= 1, () => `the block: expected extents of at least 1, got ${height}x${width}`);
  return [height, width];
}

/** extent / divisor. Throws an OperationError if there is a remainder. */
export function wholePart(what: string, extent: number, divisor: number): number {
  ensure(extent % divisor === 0, () => `${what} of ${extent} is not a multiple of ${divisor}`);
  return extent / divisor;
}
