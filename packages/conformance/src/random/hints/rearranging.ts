/**
 * Plausible operands of operations that move, look up or reduce elements: shapes, axes, indexes and pads that fit the
 * input.
 */
import { elementAt } from "@nnhal/operations";
import type { Draw, Plausible, WantedArguments, WantedTensor } from "../wanted.ts";

/** A list of integers. */
function list(...values: readonly number[]): WantedTensor {
  return { dimensions: [values.length], values };
}

/** The dimensions of an image with extents that are multiples, NCHW where the operand list says so. */
function image(
  draw: Draw,
  [batches, height, width, channels]: readonly [number, number, number, number],
): WantedArguments {
  const nchw = draw.has("nchw") && draw.chance(0.5);
  const dimensions = nchw ? [batches, channels, height, width] : [batches, height, width, channels];
  return { input: { dimensions }, nchw };
}

function product(extents: readonly number[]): number {
  return extents.reduce((all, extent) => all * extent, 1);
}

const pads: Plausible = (draw) => {
  const dimensions = draw.shape(1, 4);
  const values = dimensions.flatMap(() => [draw.integer(0, 2), draw.integer(0, 2)]);
  return { input: { dimensions }, paddings: { dimensions: [dimensions.length, 2], values } };
};

const reduction: Plausible = (draw) => {
  const dimensions = draw.shape(1, 4);
  const rank = dimensions.length;
  const axes = Array.from({ length: draw.integer(0, rank) }, () => draw.integer(-rank, rank - 1));
  return {
    input: { dimensions },
    axes: list(...axes),
    keepDimensions: draw.typeOf("keepDimensions") === "BOOL" ? draw.chance(0.5) : draw.integer(0, 1),
  };
};

const lookups = (draw: Draw, rows: number): WantedTensor =>
  list(...Array.from({ length: rows === 0 ? 0 : draw.integer(0, 4) }, () => draw.integer(0, rows - 1)));

export const rearrangingHints: Readonly<Record<string, Plausible>> = {
  CONCATENATION(draw) {
    const dimensions = draw.shape(1, 4);
    const axis = draw.integer(0, dimensions.length - 1);
    const inputs = Array.from({ length: draw.countOf("inputs") }, () => ({
      dimensions: dimensions.map((extent, index) => (index === axis ? draw.integer(0, 3) : extent)),
    }));
    return { inputs, axis };
  },
  SPLIT(draw) {
    const dimensions = draw.shape();
    const axis = draw.integer(0, dimensions.length - 1);
    const count = draw.countOf("outputs");
    dimensions[axis] = count * draw.integer(1, 3);
    return { input: { dimensions }, axis: draw.chance(0.5) ? axis : axis - dimensions.length, count };
  },
  GATHER(draw) {
    const dimensions = draw.shape();
    const axis = draw.integer(0, dimensions.length - 1);
    dimensions[axis] = Math.max(1, elementAt(dimensions, axis));
    const shape = draw.shape(1, 2);
    const values = Array.from({ length: product(shape) }, () => draw.integer(0, elementAt(dimensions, axis) - 1));
    return { input: { dimensions }, axis, indices: { dimensions: shape, values } };
  },
  EMBEDDING_LOOKUP(draw) {
    const dimensions = draw.shape(2, 4);
    return { values: { dimensions }, lookups: lookups(draw, elementAt(dimensions, 0)) };
  },
  HASHTABLE_LOOKUP(draw) {
    const dimensions = draw.shape(1, 3);
    const keys = Array.from({ length: elementAt(dimensions, 0) }, (_, index) => 3 * index - 2);
    const wanted = Array.from({ length: draw.integer(0, 4) }, () => draw.integer(-3, 6));
    return { values: { dimensions }, keys: list(...keys), lookups: list(...wanted) };
  },
  LSH_PROJECTION(draw) {
    const input = draw.shape();
    const projection = draw.integer(1, 3);
    return {
      hash: { dimensions: [draw.integer(1, 3), draw.integer(1, 4)] },
      input: { dimensions: input },
      weight: draw.chance(0.5) ? { dimensions: [elementAt(input, 0)] } : undefined,
      projection,
    };
  },
  CHANNEL_SHUFFLE(draw) {
    const dimensions = draw.shape(1, 4);
    const axis = draw.integer(0, dimensions.length - 1);
    const groups = draw.integer(1, 3);
    dimensions[axis] = groups * draw.integer(1, 3);
    return { input: { dimensions }, groups, axis };
  },
  TOPK_V2(draw) {
    const dimensions = [...draw.shape(1, 3), draw.integer(1, 6)];
    return { input: { dimensions }, k: draw.integer(1, elementAt(dimensions, dimensions.length - 1)) };
  },
  FILL: (draw) => ({ dimensions: list(...draw.shape()), value: draw.integer(-3, 3) }),
  RESHAPE(draw) {
    const dimensions = draw.shape(1, 4);
    const count = product(dimensions);
    const shape = draw.pick([[count], [1, count], [count, 1, 1], [...dimensions].reverse()]);
    if (count > 0 && draw.chance(0.3)) shape[draw.integer(0, shape.length - 1)] = -1;
    return { input: { dimensions }, shape: list(...shape) };
  },
  BATCH_MATMUL(draw) {
    const batches = draw.shape(0, 2);
    const [rows, depth, columns] = [draw.integer(1, 4), draw.integer(1, 4), draw.integer(1, 4)];
    const [adjX, adjY] = [draw.chance(0.5), draw.chance(0.5)];
    return {
      x: { dimensions: [...batches, ...(adjX ? [depth, rows] : [rows, depth])] },
      y: { dimensions: [...batches, ...(adjY ? [columns, depth] : [depth, columns])] },
      adjX,
      adjY,
    };
  },
  PACK(draw) {
    const dimensions = draw.shape(1, 3);
    const isQuantised = draw.typeOf("values").startsWith("TENSOR_QUANT8");
    const value = { dimensions, ...(isQuantised && { scale: draw.scale(), zeroPoint: 3 }) };
    const values = Array.from({ length: draw.countOf("values") }, () => value);
    return { axis: draw.integer(0, dimensions.length), values };
  },
  MIRROR_PAD(draw) {
    const dimensions = draw.shape(1, 4).map((extent) => Math.max(1, extent));
    const mode = draw.integer(0, 1);
    const values = dimensions.flatMap((extent) =>
      [0, 1].map(() => draw.integer(0, Math.min(2, extent - (mode === 0 ? 1 : 0)))),
    );
    return { input: { dimensions }, paddings: { dimensions: [dimensions.length, 2], values }, mode };
  },
  REVERSE(draw) {
    const dimensions = draw.shape(1, 4);
    return { input: { dimensions }, axis: list(draw.integer(0, dimensions.length - 1)) };
  },
  PAD: pads,
  PAD_V2: pads,
  TILE(draw) {
    const dimensions = draw.shape();
    return { input: { dimensions }, multiples: list(...dimensions.map(() => draw.integer(0, 3))) };
  },
  TRANSPOSE(draw) {
    const dimensions = draw.shape(1, 4);
    const permutation = dimensions.map((_, axis) => axis);
    for (let axis = permutation.length - 1; axis > 0; axis--) {
      const other = draw.integer(0, axis);
      [permutation[axis], permutation[other]] = [elementAt(permutation, other), elementAt(permutation, axis)];
    }
    return { input: { dimensions }, permutation: draw.chance(0.3) ? undefined : list(...permutation) };
  },
  SLICE(draw) {
    const dimensions = draw.shape();
    const begin = dimensions.map((extent) => draw.integer(0, extent));
    const size = dimensions.map((extent, axis) =>
      draw.chance(0.2) ? -1 : draw.integer(0, extent - elementAt(begin, axis)),
    );
    return { input: { dimensions }, begin: list(...begin), size: list(...size) };
  },
  STRIDED_SLICE(draw) {
    const dimensions = draw.shape(1, 4);
    const corner = () => list(...dimensions.map((extent) => draw.integer(-extent - 1, extent + 1)));
    const mask = () => draw.integer(0, 2 ** dimensions.length - 1);
    const strides = list(...dimensions.map(() => draw.pick([1, 1, 2, 3, -1, -2])));
    return {
      input: { dimensions },
      begin: corner(),
      end: corner(),
      strides,
      beginMask: mask(),
      endMask: mask(),
      shrinkAxisMask: draw.chance(0.8) ? 0 : mask(),
    };
  },
  SQUEEZE(draw) {
    const dimensions = draw.shape(1, 4).map((extent) => (draw.chance(0.5) ? 1 : extent));
    const ones = dimensions.flatMap((extent, axis) => (extent === 1 ? [axis] : []));
    const axes = list(...ones.filter(() => draw.chance(0.5)));
    return { input: { dimensions }, axes: draw.chance(0.3) ? undefined : axes };
  },
  EXPAND_DIMS(draw) {
    const dimensions = draw.shape();
    return { input: { dimensions }, axis: draw.integer(-dimensions.length - 1, dimensions.length) };
  },
  MEAN: reduction,
  REDUCE_ALL: reduction,
  REDUCE_ANY: reduction,
  REDUCE_MAX: reduction,
  REDUCE_MIN: reduction,
  REDUCE_PROD: reduction,
  REDUCE_SUM: reduction,
  BATCH_TO_SPACE_ND(draw) {
    const [blockHeight, blockWidth] = [draw.integer(1, 3), draw.integer(1, 3)];
    const batches = blockHeight * blockWidth * draw.integer(1, 2);
    return {
      ...image(draw, [batches, draw.extent(), draw.extent(), draw.extent()]),
      block: list(blockHeight, blockWidth),
    };
  },
  SPACE_TO_BATCH_ND(draw) {
    const block = [draw.integer(1, 3), draw.integer(1, 3)] as const;
    const padded = (extent: number) => ({ extent: extent * draw.integer(1, 2), pad: draw.integer(0, 1) });
    const [height, width] = [padded(block[0]), padded(block[1])];
    const values = [height.pad, 0, 0, width.pad];
    return {
      ...image(draw, [draw.extent(), height.extent - height.pad, width.extent - width.pad, draw.extent()]),
      block: list(...block),
      paddings: { dimensions: [2, 2], values },
    };
  },
  SPACE_TO_DEPTH(draw) {
    const blockSize = draw.integer(1, 3);
    const [height, width] = [blockSize * draw.integer(1, 2), blockSize * draw.integer(1, 2)];
    return { ...image(draw, [draw.extent(), height, width, draw.extent()]), blockSize };
  },
  DEPTH_TO_SPACE(draw) {
    const blockSize = draw.integer(1, 3);
    const channels = blockSize * blockSize * draw.integer(1, 2);
    return { ...image(draw, [draw.extent(), draw.extent(), draw.extent(), channels]), blockSize };
  },
};
