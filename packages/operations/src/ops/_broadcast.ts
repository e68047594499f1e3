/**
 * Broadcasting: operands whose shapes differ are written out in the result's shape first, so that kernels are plain loops
 * over elements side by side.
 */
import { broadcastShape, extentProduct, sameShape } from "../shape.ts";
import { createData, type Tensor, type TensorData, type TensorInfo } from "../tensor.ts";
import { CHUNK } from "./_chunks.ts";

/** The output of an operation that broadcasts two tensors and keeps the model's quantisation. */
export function inferBroadcast(left: TensorInfo, right: TensorInfo): { output: { dimensions: number[] } } {
  return { output: { dimensions: broadcastShape(left.dimensions, right.dimensions) } };
}

/**
 * The elements of a tensor repeated to a shape that it broadcasts to; the tensor's own elements if the shapes agree. Pauses while a
 * large shape is filled.
 */
export function* broadcastData(
  { type, data, dimensions }: Tensor,
  shape: readonly number[],
): Generator<void, TensorData> {
  if (sameShape(dimensions, shape)) return data;
  const result = createData(type, extentProduct(shape, 0));
  if (result.length === 0) return result;
  const missing = shape.length - dimensions.length;
  const axes = [...shape.keys()].filter((axis) => shape[axis] !== 1);
  const source = axes.map((axis) => (axis < missing ? 1 : dimensions[axis - missing]));
  const target = axes.map((axis) => shape[axis]);
  if (result.length <= CHUNK) repeat(data, source, result, target, 0, 0, 0);
  else yield* repeatInParts(data, source, result, target, 0, 0);
  return result;
}

/** `repeat` for blocks that are too large to be written in one go: cut along the first axis, or each of it further. */
function* repeatInParts(
  data: TensorData,
  [first, ...source]: readonly number[],
  result: TensorData,
  [extent, ...shape]: readonly number[],
  from: number,
  to: number,
): Generator<void, void> {
  const part = extentProduct(shape, 0);
  const sourcePart = first === 1 ? 0 : extentProduct(source, 0);
  const step = Math.max(1, Math.floor(CHUNK / part));
  for (let index = 0; index < extent; index += step) {
    if (index > 0) yield;
    const [at, place] = [from + index * sourcePart, to + index * part];
    if (part > CHUNK) yield* repeatInParts(data, source, result, shape, at, place);
    else {
      const count = Math.min(step, extent - index);
      repeat(data, [first === 1 ? 1 : count, ...source], result, [count, ...shape], 0, at, place);
    }
  }
}

/** Writes the block of axes from `axis` on that starts at `from` in the source and at `to` in the result. */
function repeat(
  data: TensorData,
  source: readonly number[],
  result: TensorData,
  shape: readonly number[],
  axis: number,
  from: number,
  to: number,
): void {
  const sourceBlock = extentProduct(source, axis);
  const block = extentProduct(shape, axis);
  if (sourceBlock === 1) {
    result.fill(data[from], to, to + block);
  } else if (sourceBlock === block) {
    result.set(data.subarray(from, from + block), to);
  } else if (source[axis] === 1) {
    repeat(data, source, result, shape, axis + 1, from, to);
    const part = block / shape[axis];
    for (let written = part; written < block; written *= 2) {
      result.copyWithin(to + written, to, to + Math.min(written, block - written));
    }
  } else {
    const sourcePart = sourceBlock / source[axis];
    const part = block / shape[axis];
    for (let index = 0; index < shape[axis]; index++) {
      repeat(data, source, result, shape, axis + 1, from + index * sourcePart, to + index * part);
    }
  }
}
