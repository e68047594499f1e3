/** Operations that move elements and do not change them. */
import type { KernelTensor } from "@nnhal/backend";
import { elementTable } from "@nnhal/backend/float32";
import { ensure, extentProduct, imageLayout, integerRange, resolveAxis, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { lookUp } from "./_by-table.ts";
import { fromNhwc, toNhwc } from "./_image.ts";
import { type Compute, type Read, type Setup, storedKernel } from "./_kernel.ts";
import { isQuantised } from "./_quantised.ts";

interface One {
  readonly output: TensorInfo;
}

interface Unary {
  readonly input: KernelTensor;
}

/** The shape of the output is known from shape inference. */
const reshaped = storedKernel({
  prepare:
    ({ input }: Unary, { output }: One) =>
    (read) =>
      tf.reshape(read(input), [...output.dimensions]),
});

export const reshape = reshaped;
export const squeeze = reshaped;
export const expandDims = reshaped;

export const transpose = storedKernel({
  prepare({ input, permutation }: Unary & { readonly permutation: KernelTensor | undefined }) {
    const order = permutation?.data ? Array.from(permutation.data) : undefined;
    return (read) => tf.transpose(read(input), order);
  },
});

/** The elements of a tensor in the quantisation of another one. */
function requantise(input: KernelTensor, output: TensorInfo, keep: Setup["keep"]): (read: Read) => tf.Tensor {
  if (input.scale === output.scale && input.zeroPoint === output.zeroPoint) return (read) => read(input);
  const { least, results } = elementTable("CONCATENATION", { inputs: [input], axis: 0 }, output);
  const table = keep(tf.tensor1d(results));
  return (read) => lookUp(read(input), least, table);
}

export const concatenation = storedKernel({
  prepare(
    { inputs, axis }: { readonly inputs: readonly KernelTensor[]; readonly axis: number },
    { output }: One,
    { keep },
  ) {
    const filled = inputs.filter(({ dimensions }) => !dimensions.includes(0));
    const isSame = filled.every(({ scale, zeroPoint }) => scale === output.scale && zeroPoint === output.zeroPoint);
    if (isSame || !isQuantised(output.type)) {
      return (read) => tf.concat(filled.map(read), axis);
    }
    const parts = filled.map((input) => requantise(input, output, keep));
    return (read) =>
      tf.concat(
        parts.map((part) => part(read)),
        axis,
      );
  },
});

export const split = storedKernel({
  prepare:
    ({ input, axis, count }: Unary & { readonly axis: number; readonly count: number }) =>
    (read) =>
      tf.split(read(input), count, resolveAxis(axis, input.dimensions.length)),
});

export const slice = storedKernel({
  prepare({ input, begin }: Unary & { readonly begin: KernelTensor }, { output }: One) {
    const start = Array.from(begin.data ?? []);
    return (read) => tf.slice(read(input), start, [...output.dimensions]);
  },
});

interface StridedSlice extends Unary {
  readonly begin: KernelTensor;
  readonly end: KernelTensor;
  readonly strides: KernelTensor;
  readonly beginMask: number;
  readonly endMask: number;
  readonly shrinkAxisMask: number;
}

export const stridedSlice = storedKernel({
  prepare({ input, begin, end, strides, beginMask, endMask, shrinkAxisMask }: StridedSlice, { output }: One) {
    const [from, to, steps] = [begin, end, strides].map(({ data }) => Array.from(data ?? []));
    // A removed axis has one element; its end is ignored. Shape inference has checked the rest.
    from.forEach((start, axis) => {
      if ((shrinkAxisMask & (1 << axis)) === 0) return;
      const first = (beginMask & (1 << axis)) === 0 ? start : 0;
      from[axis] = first < 0 ? first + input.dimensions[axis] : first;
      to[axis] = from[axis] + 1;
      steps[axis] = 1;
    });
    const keptMask = ~shrinkAxisMask;
    return (read) => {
      const result = tf.stridedSlice(read(input), from, to, steps, beginMask & keptMask, endMask & keptMask);
      return tf.reshape(result, [...output.dimensions]);
    };
  },
});

function padsOf({ data = [] }: { readonly data?: ArrayLike<number> }): [number, number][] {
  return Array.from({ length: data.length / 2 }, (_, axis) => [data[2 * axis], data[2 * axis + 1]]);
}

/** Quantised tensors are padded with their zero point. */
export const pad = storedKernel({
  prepare: ({ input, paddings }: Unary & { readonly paddings: KernelTensor }) => {
    const pads = padsOf(paddings);
    return (read) => tf.pad(read(input), pads, input.zeroPoint);
  },
});

/** The value has the type of the elements. Of an INT32 for 8-bit elements only the low byte counts. */
export const padV2 = storedKernel({
  prepare({ input, paddings, value }: Unary & { readonly paddings: KernelTensor; readonly value: number }) {
    const pads = padsOf(paddings);
    let element = value;
    if (isQuantised(input.type)) {
      const [least] = integerRange(input.type);
      element = ((value - least) & 0xff) + least;
    }
    return (read) => tf.pad(read(input), pads, element);
  },
});

/** Elements along an axis by their places: of any rank, which the engines' own kernels of the kind do not have. */
function pickAlong(tensor: tf.Tensor, axis: number, places: readonly number[]): tf.Tensor {
  const [outer, inner] = [extentProduct(tensor.shape, 0, axis), extentProduct(tensor.shape, axis + 1)];
  const slices = tf.reshape(tensor, [outer, tensor.shape[axis], inner]);
  const picked = tf.gather(slices, tf.tensor1d([...places], "int32"), 1);
  return tf.reshape(picked, [...tensor.shape.slice(0, axis), places.length, ...tensor.shape.slice(axis + 1)]);
}

export const mirrorPad = storedKernel({
  prepare({ input, paddings, mode }: Unary & { readonly paddings: KernelTensor; readonly mode: number }) {
    const border = mode === 0 ? 1 : 0;
    const axes = padsOf(paddings).flatMap(([before, after], axis) => {
      if (before + after === 0) return [];
      const extent = input.dimensions[axis];
      const places = Array.from({ length: before + extent + after }, (_, index) => {
        const place = Math.max(index - before, before - index - 1 + border);
        return place < extent ? place : 2 * extent - 1 - border - place;
      });
      return [{ axis, places }];
    });
    return (read) => axes.reduce((tensor, { axis, places }) => pickAlong(tensor, axis, places), tf.clone(read(input)));
  },
});

export const reverse = storedKernel({
  prepare({ input, axis }: Unary & { readonly axis: KernelTensor }) {
    const { dimensions } = input;
    return (read) => {
      const [along] = axis.data ?? read(axis).dataSync();
      const rank = dimensions.length;
      ensure(along >= 0 && along < rank, () => `axis ${along} is outside [0, ${rank})`);
      const places = Array.from({ length: dimensions[along] }, (_, index) => dimensions[along] - 1 - index);
      return pickAlong(read(input), along, places);
    };
  },
});

export const pack = storedKernel({
  prepare({ values, axis }: { readonly values: readonly KernelTensor[]; readonly axis: number }) {
    return (read) =>
      tf.concat(
        values.map((each) => tf.reshape(read(each), each.dimensions.toSpliced(axis, 0, 1))),
        axis,
      );
  },
});

/** By concatenation, which copies whole rows. The kernel of tfjs computes the place of every element separately. */
export const tile = storedKernel({
  prepare: ({ input, multiples }: Unary & { readonly multiples: KernelTensor }) => {
    const times = Array.from(multiples.data ?? []);
    return (read) => times.reduce((tensor, count, axis) => repeatTensor(tensor, axis, count), tf.clone(read(input)));
  },
});

/** A tensor repeated `times` times, at least once, along an axis. */
function repeatTensor(tensor: tf.Tensor, axis: number, count: number): tf.Tensor {
  if (count === 1) return tensor;
  const half = repeatTensor(tensor, axis, Math.floor(count / 2));
  return tf.concat(count % 2 === 0 ? [half, half] : [half, half, tensor], axis);
}

/** Refuses indexes outside [0, extent), with which engines would read beyond the tensor. */
function checkIndexes(indexes: KernelTensor, extent: number): (read: Read) => tf.Tensor {
  const refuse = (least: number, greatest: number) =>
    ensure(
      least >= 0 && greatest < extent,
      () => `the indexes reach from ${least} to ${greatest}, outside [0, ${extent})`,
    );
  if (indexes.data !== undefined) {
    refuse(Math.min(...indexes.data), Math.max(...indexes.data));
    return (read) => read(indexes);
  }
  return (read) => {
    const tensor = read(indexes);
    refuse(tf.min(tensor).dataSync()[0], tf.max(tensor).dataSync()[0]);
    return tensor;
  };
}

export const gather = storedKernel({
  prepare(
    { input, axis, indices }: Unary & { readonly axis: number; readonly indices: KernelTensor },
    { output }: One,
  ) {
    const along = resolveAxis(axis, input.dimensions.length);
    const indexesOf = checkIndexes(indices, input.dimensions[along]);
    return (read) => {
      const indexes = tf.reshape<tf.Rank.R1>(indexesOf(read), [-1]);
      return tf.reshape(tf.gather(read(input), indexes, along), [...output.dimensions]);
    };
  },
});

export const embeddingLookup = storedKernel({
  prepare({ lookups, values }: { readonly lookups: KernelTensor; readonly values: KernelTensor }) {
    const lookupsOf = checkIndexes(lookups, values.dimensions[0]);
    return (read) => tf.gather(read(values), tf.reshape<tf.Rank.R1>(lookupsOf(read), [-1]), 0);
  },
});

interface HashtableLookup {
  readonly lookups: KernelTensor;
  readonly keys: KernelTensor;
  readonly values: KernelTensor;
}

/** Compares every lookup with every key. If no key is equal, the row is zero bytes. */
export const hashtableLookup = storedKernel({
  prepare({ lookups, keys, values }: HashtableLookup, { output }: One) {
    const count = lookups.dimensions[0];
    return (read) => {
      const isEqual = tf.equal(tf.reshape(read(lookups), [count, 1]), tf.reshape(read(keys), [1, -1]));
      const hits = tf.any(isEqual, 1);
      const rows = tf.argMax(tf.cast(isEqual, "int32"), 1);
      const found = tf.gather(read(values), tf.reshape<tf.Rank.R1>(rows, [count]), 0);
      const mask = tf.reshape(hits, [count, ...output.dimensions.slice(1).map(() => 1)]);
      return [tf.where(mask, found, tf.zerosLike(found)), tf.cast(hits, "float32")];
    };
  },
});

export const channelShuffle = storedKernel({
  prepare({ input, groups, axis }: Unary & { readonly groups: number; readonly axis: number }) {
    const { dimensions } = input;
    const along = resolveAxis(axis, dimensions.length);
    const inner = extentProduct(dimensions, along + 1);
    const parts = [extentProduct(dimensions, 0, along), groups, dimensions[along] / groups, inner];
    return (read) => tf.reshape(tf.transpose(tf.reshape(read(input), parts), [0, 2, 1, 3]), [...dimensions]);
  },
});

interface Blocks extends Unary {
  readonly blockSize: number;
  readonly nchw: boolean;
}

export const depthToSpace = storedKernel({
  prepare({ input, blockSize, nchw }: Blocks): Compute {
    const { batches, height, width, channels } = imageLayout(input.dimensions, nchw);
    const depth = channels / blockSize ** 2;
    // [rows, columns, rows of a block, columns of a block and depth]; then the rows of a block come before the columns
    return (read) => {
      const blocks = tf.reshape(toNhwc(read(input), nchw), [batches * height, width, blockSize, blockSize * depth]);
      const rows = tf.transpose(blocks, [0, 2, 1, 3]);
      return fromNhwc(tf.reshape(rows, [batches, height * blockSize, width * blockSize, depth]), nchw);
    };
  },
});

export const spaceToDepth = storedKernel({
  prepare({ input, blockSize, nchw }: Blocks): Compute {
    const { batches, height, width, channels } = imageLayout(input.dimensions, nchw);
    const [rows, columns] = [height / blockSize, width / blockSize];
    return (read) => {
      const blocks = tf.reshape(toNhwc(read(input), nchw), [batches * rows, blockSize, columns, blockSize * channels]);
      const pixels = tf.transpose(blocks, [0, 2, 1, 3]);
      return fromNhwc(tf.reshape(pixels, [batches, rows, columns, channels * blockSize ** 2]), nchw);
    };
  },
});

interface BatchBlocks extends Unary {
  readonly block: KernelTensor;
  readonly nchw: boolean;
}

export const batchToSpaceNd = storedKernel({
  prepare({ input, block, nchw }: BatchBlocks) {
    const extents = Array.from(block.data ?? []);
    const crops = extents.map(() => [0, 0]);
    return (read) => fromNhwc(tf.batchToSpaceND(toNhwc(read(input), nchw), extents, crops), nchw);
  },
});

export const spaceToBatchNd = storedKernel({
  prepare({ input, block, paddings, nchw }: BatchBlocks & { readonly paddings: KernelTensor }) {
    const extents = Array.from(block.data ?? []);
    const [vertical, horizontal] = padsOf(paddings);
    const pads: [number, number][] = [[0, 0], vertical, horizontal, [0, 0]];
    const none = extents.map(() => [0, 0]);
    return (read) => {
      const padded = tf.pad(toNhwc(read(input), nchw), pads, input.zeroPoint);
      return fromNhwc(tf.spaceToBatchND(padded, extents, none), nchw);
    };
  },
});

/** A tensor filled with one number. */
export const fill = storedKernel({
  prepare({ value }: { readonly value: number }, { output }: One) {
    const type = output.type === "TENSOR_INT32" ? "int32" : "float32";
    return () => tf.fill([...output.dimensions], value, type);
  },
});

export const rank = storedKernel({
  prepare:
    ({ input }: Unary) =>
    () =>
      tf.scalar(input.dimensions.length, "int32"),
});
