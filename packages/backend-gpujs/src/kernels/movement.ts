/** Operations that move elements and do not change them. */
import type { KernelTensor } from "@nnhal/backend";
import { elementTable } from "@nnhal/backend/float32";
import {
  type AnyArgs,
  clamp,
  ensure,
  extentProduct,
  imageAxes,
  integerRange,
  isFloat,
  resolveAxis,
  stridesOf,
  type TensorInfo,
} from "@nnhal/operations";
import type { Source, Stage, Writer } from "./_code.ts";
import { isExact } from "./_exact.ts";
import { imageOf } from "./_image.ts";
import { literal, plus, ravel } from "./_index.ts";
import { type GpujsTable, type KernelSpec, kernelOf, type Make } from "./_kernel.ts";
import { type Pad, padsOf, readPadded } from "./_pads.ts";
import { isQuantised } from "./_quantised.ts";

interface One {
  readonly output: TensorInfo;
}

interface Unary {
  readonly input: KernelTensor;
}

const move = <Args, Outputs>(spec: KernelSpec<Args, Outputs>) =>
  kernelOf<Args, Outputs>({ accepts: isExact, stored: true, ...spec });

/** The same elements in the same order: the value is passed on. */
const reshaped = move({ leads: false, prepare: ({ input }: Unary) => input });

/** A tensor, viewed with other extents, with its axes in another order. */
function permuteAxes(
  make: Make,
  input: Source,
  extents: readonly number[],
  order: readonly number[],
  grid = {},
): Stage {
  const strides = order.map((axis) => stridesOf(extents)[axis]);
  const dimensions = order.map((axis) => extents[axis]);
  return make.output(({ read, at }) => read(input)(ravel(at, strides)), { dimensions, ...grid });
}

const transpose = move({
  prepare({ input, permutation }: Unary & { readonly permutation: KernelTensor | undefined }, _: One, make) {
    const backwards = input.dimensions.map((_, axis) => input.dimensions.length - 1 - axis);
    return permuteAxes(make, input, input.dimensions, permutation?.data ? Array.from(permutation.data) : backwards);
  },
});

const channelShuffle = move({
  leads: false,
  prepare({ input, groups, axis }: Unary & { readonly groups: number; readonly axis: number }, _: One, make) {
    const { dimensions } = input;
    const along = resolveAxis(axis, dimensions.length);
    const outer = extentProduct(dimensions, 0, along);
    const inner = extentProduct(dimensions, along + 1);
    return permuteAxes(make, input, [outer, groups, dimensions[along] / groups, inner], [0, 2, 1, 3]);
  },
});

interface Blocks extends Unary {
  readonly blockSize: number;
  readonly nchw: boolean;
}

const depthToSpace = move({
  leads: false,
  prepare({ input, blockSize: block, nchw }: Blocks, _: One, make) {
    const { batches, height, width, channels } = imageOf(input.dimensions, nchw);
    const depth = channels / block ** 2;
    return nchw
      ? permuteAxes(make, input, [batches, block, block, depth, height, width], [0, 3, 4, 1, 5, 2])
      : permuteAxes(make, input, [batches, height, width, block, block, depth], [0, 1, 3, 2, 4, 5]);
  },
});

const spaceToDepth = move({
  leads: false,
  prepare({ input, blockSize: block, nchw }: Blocks, _: One, make) {
    const { batches, height, width, channels } = imageOf(input.dimensions, nchw);
    const [rows, columns] = [height / block, width / block];
    return nchw
      ? permuteAxes(make, input, [batches, channels, rows, block, columns, block], [0, 3, 5, 1, 2, 4])
      : permuteAxes(make, input, [batches, rows, block, columns, block, channels], [0, 1, 3, 2, 4, 5]);
  },
});

interface BatchBlocks extends Unary {
  readonly block: KernelTensor;
  readonly nchw: boolean;
}

const batchToSpaceNd = move({
  leads: false,
  prepare({ input, block, nchw }: BatchBlocks, { output }: One, make) {
    const [, ...image] = input.dimensions;
    const blocks = [...(block.data ?? []), output.dimensions[0], ...image];
    return permuteAxes(make, input, blocks, nchw ? [2, 3, 4, 0, 5, 1] : [2, 3, 0, 4, 1, 5]);
  },
});

/** Quantised tensors are padded with their zero point. */
const pad = move({
  prepare({ input, paddings }: Unary & { readonly paddings: KernelTensor }, _: One, make) {
    const pads = padsOf(paddings);
    return make.output((writer) => readPadded(writer, input, pads, input.zeroPoint));
  },
});

/** The value has the type of the elements. Of an INT32 for 8-bit elements only the low byte counts. */
const padV2 = move({
  prepare({ input, paddings, value }: Unary & { paddings: KernelTensor; value: number }, _: One, make) {
    const pads = padsOf(paddings);
    const [least] = isFloat(input.type) ? [0] : integerRange(input.type);
    const element = isFloat(input.type) ? value : ((value - least) & 0xff) + least;
    return make.output((writer) => readPadded(writer, input, pads, element));
  },
});

const spaceToBatchNd = move({
  leads: false,
  prepare({ input, block, paddings, nchw }: BatchBlocks & { readonly paddings: KernelTensor }, _: One, make) {
    const [blockHeight, blockWidth] = block.data ?? [];
    const axes = imageAxes(nchw);
    const pads: Pad[] = input.dimensions.map(() => [0, 0]);
    [pads[axes.height], pads[axes.width]] = padsOf(paddings);
    const extents = input.dimensions.map((extent, axis) => extent + pads[axis][0] + pads[axis][1]);
    const whole = make.stage({ dimensions: extents }, (writer) => readPadded(writer, input, pads, input.zeroPoint));
    const { batches, height, width, channels } = imageOf(extents, nchw);
    const [rows, columns] = [height / blockHeight, width / blockWidth];
    return nchw
      ? permuteAxes(make, whole, [batches, channels, rows, blockHeight, columns, blockWidth], [3, 5, 0, 1, 2, 4])
      : permuteAxes(make, whole, [batches, rows, blockHeight, columns, blockWidth, channels], [2, 4, 0, 1, 3, 5]);
  },
});

const tile = move({
  prepare: ({ input }: Unary, _: One, make) =>
    make.output(({ read, at, quotient }) => {
      const places = input.dimensions.map((extent, axis) =>
        extent === 1 ? "0" : `(${at[axis]} - ${extent} * ${quotient(at[axis], extent)})`,
      );
      return read(input)(ravel(places, stridesOf(input.dimensions)));
    }),
});

const slice = move({
  prepare({ input, begin }: Unary & { readonly begin: KernelTensor }, _: One, make) {
    const strides = stridesOf(input.dimensions);
    const first = strides.reduce((sum, stride, axis) => sum + stride * (begin.data?.[axis] ?? 0), 0);
    return make.output(({ read, at }) => read(input)(ravel(at, strides, first)));
  },
});

interface StridedSlice extends Unary {
  readonly begin: KernelTensor;
  readonly strides: KernelTensor;
  readonly beginMask: number;
  readonly shrinkAxisMask: number;
}

const stridedSlice = move({
  prepare({ input, begin, strides, beginMask, shrinkAxisMask }: StridedSlice, _: One, make) {
    const steps = stridesOf(input.dimensions);
    const hasBit = (mask: number, axis: number) => (mask & (1 << axis)) !== 0;
    let start = 0;
    const kept: number[] = [];
    input.dimensions.forEach((extent, axis) => {
      const stride = strides.data?.[axis] ?? 1;
      const given = begin.data?.[axis] ?? 0;
      const [least, greatest] = stride > 0 ? [0, extent] : [-1, extent - 1];
      const masked = stride > 0 ? least : greatest;
      const first = hasBit(beginMask, axis) ? masked : clamp(given < 0 ? given + extent : given, least, greatest);
      start += first * steps[axis];
      // Shape inference has checked that a removed axis has one element.
      if (!hasBit(shrinkAxisMask, axis)) kept.push(stride * steps[axis]);
    });
    return make.output(({ read, at }) => read(input)(ravel(at, kept, start)));
  },
});

const split = move({
  leads: false,
  prepare({ input, axis, count }: Unary & { axis: number; count: number }, _: AnyArgs, make) {
    const { dimensions } = input;
    const along = resolveAxis(axis, dimensions.length);
    const share = dimensions.map((extent, other) => (other === along ? extent / count : extent));
    const strides = stridesOf(dimensions);
    return Array.from({ length: count }, (_, place) =>
      make.stage({ dimensions: share }, ({ read, at }) =>
        read(input)(ravel(at, strides, place * share[along] * strides[along])),
      ),
    );
  },
});

/** The most inputs that one program joins: WebGPU guarantees eight values. */
const MOST_JOINED = 6;

/** The elements of a tensor in the quantisation of another one, by the table of the reference. */
function requantise(tensor: KernelTensor, output: TensorInfo, make: Make): Source {
  const { type, scale, zeroPoint, dimensions } = tensor;
  if (!isQuantised(type) || (scale === output.scale && zeroPoint === output.zeroPoint)) return tensor;
  const { least, results } = elementTable("CONCATENATION", { inputs: [tensor], axis: 0 }, output);
  const packed = { packed: results };
  return make.stage({ dimensions, flat: true }, ({ read, truncate: whole, flat }) =>
    read(packed)(whole(`${read(tensor)(flat)} - ${literal(least)}`)),
  );
}

const concatenation = move({
  prepare(
    { inputs, axis }: { readonly inputs: readonly KernelTensor[]; readonly axis: number },
    { output }: { readonly output: TensorInfo },
    make,
  ) {
    const filled = inputs.filter(({ dimensions }) => !dimensions.includes(0));
    return joinAll(
      filled.map((source) => ({ source: requantise(source, output, make), dimensions: source.dimensions })),
      axis,
      make,
    );
  },
});

/** The output of tensors that are joined along an axis, by as many programs as that takes. */
function joinAll(all: readonly Part[], axis: number, make: Make): Stage {
  let parts = all;
  while (parts.length > MOST_JOINED) {
    const groups = Array.from({ length: Math.ceil(parts.length / MOST_JOINED) }, (_, group) =>
      parts.slice(group * MOST_JOINED, (group + 1) * MOST_JOINED),
    );
    parts = groups.map((group) => {
      const dimensions = joinedShape(group, axis);
      return { dimensions, source: make.stage({ dimensions }, (writer) => joinParts(writer, group, axis)) };
    });
  }
  return make.output((writer) => joinParts(writer, parts, axis));
}

const pack = move({
  leads: false,
  prepare({ values, axis }: { readonly values: readonly KernelTensor[]; readonly axis: number }, _: One, make) {
    return joinAll(
      values.map((source) => ({ source, dimensions: source.dimensions.toSpliced(axis, 0, 1) })),
      axis,
      make,
    );
  },
});

const reverse = move({
  refuse: ({ axis }) =>
    isTensor(axis) && "data" in axis && axis.data !== undefined ? undefined : "the axis is not constant",
  prepare({ input, axis }: Unary & { readonly axis: KernelTensor }, _: One, make) {
    const [along = 0] = axis.data ?? [];
    const { dimensions } = input;
    const rank = dimensions.length;
    ensure(along >= 0 && along < rank, () => `axis ${along} is outside [0, ${rank})`);
    const strides = stridesOf(dimensions);
    const steps = strides.map((stride, place) => (place === along ? -stride : stride));
    return make.output(({ read, at }) => read(input)(ravel(at, steps, (dimensions[along] - 1) * strides[along])));
  },
});

const mirrorPad = move({
  prepare({ input, paddings, mode }: Unary & { paddings: KernelTensor; mode: number }, _: One, make) {
    const border = mode === 0 ? 1 : 0;
    const pads = padsOf(paddings);
    return make.output(({ read, at, index, truncate }) => {
      const places = input.dimensions.map((extent, axis) => {
        const [before, after] = pads[axis];
        if (before + after === 0) return at[axis];
        const place = index(plus(at[axis], -before));
        const low = before === 0 ? place : `Math.max(${place}, ${border - 1} - ${place})`;
        const whole = after === 0 ? low : `Math.min(${low}, ${2 * extent - 1 - border} - ${place})`;
        return index(truncate(whole));
      });
      return read(input)(ravel(places, stridesOf(input.dimensions)));
    });
  },
});

interface Part {
  readonly source: Source;
  readonly dimensions: readonly number[];
}

function isTensor(arg: unknown): arg is TensorInfo {
  return typeof arg === "object" && arg !== null && "dimensions" in arg;
}

function joinedShape(parts: readonly Part[], axis: number): number[] {
  const dimensions = [...parts[0].dimensions];
  dimensions[axis] = parts.reduce((sum, part) => sum + part.dimensions[axis], 0);
  return dimensions;
}

/** An element of tensors that are concatenated along an axis. */
function joinParts({ read, line, at }: Writer, parts: readonly Part[], axis: number): string {
  let end = 0;
  const branches = parts.map(({ source, dimensions }, place) => {
    const strides = stridesOf(dimensions);
    const element = read(source)(`${ravel(at, strides)} - ${end * strides[axis]}`);
    end += dimensions[axis];
    const code = `{\nvalue = ${element};\n}`;
    return place === parts.length - 1 ? code : `if (${at[axis]} < ${end - 0.5}) ${code}`;
  });
  line(`let value = 0;\n${branches.join(" else ")}`);
  return "value";
}

interface Lookup {
  readonly input: KernelTensor;
  readonly axis: number;
  readonly indices: KernelTensor;
}

/** Elements by index along an axis. An index outside the axis counts as that of the nearest end, since a GPU cannot refuse it. */
function lookUp({ input, axis, indices }: Lookup, make: Make): Stage {
  const { dimensions } = input;
  const extent = dimensions[axis];
  const inner = extentProduct(dimensions, axis + 1);
  const count = indices.dimensions.reduce((product, each) => product * each, 1);
  for (const index of indices.data ?? []) {
    ensure(index >= 0 && index < extent, () => `index ${index} is outside [0, ${extent})`);
  }
  const grid = [extentProduct(dimensions, 0, axis), count, inner];
  return make.output(
    ({ read, truncate: whole, at }) => {
      const [outer, place, column] = at;
      const index = whole(`Math.min(Math.max(${read(indices)(place)}, 0), ${extent - 1})`);
      return read(input)(ravel([outer, index, column], [extent * inner, inner, 1]));
    },
    { dimensions: grid },
  );
}

const gather = move({
  leads: false,
  prepare: (args: Lookup, _: One, make) =>
    lookUp({ ...args, axis: resolveAxis(args.axis, args.input.dimensions.length) }, make),
});

const embeddingLookup = move({
  accepts: (type) => type === "TENSOR_INT32",
  refuse: ({ values }) => (isTensor(values) && !isExact(values.type) ? `${values.type} is not available` : undefined),
  leads: false,
  prepare: ({ lookups, values }: { readonly lookups: KernelTensor; readonly values: KernelTensor }, _: One, make) =>
    lookUp({ input: values, axis: 0, indices: lookups }, make),
});

export const movementKernels = {
  BATCH_TO_SPACE_ND: batchToSpaceNd,
  CHANNEL_SHUFFLE: channelShuffle,
  CONCATENATION: concatenation,
  DEPTH_TO_SPACE: depthToSpace,
  EMBEDDING_LOOKUP: embeddingLookup,
  EXPAND_DIMS: reshaped,
  GATHER: gather,
  MIRROR_PAD: mirrorPad,
  PACK: pack,
  PAD: pad,
  PAD_V2: padV2,
  RESHAPE: reshaped,
  REVERSE: reverse,
  SLICE: slice,
  SPACE_TO_BATCH_ND: spaceToBatchNd,
  SPACE_TO_DEPTH: spaceToDepth,
  SPLIT: split,
  SQUEEZE: reshaped,
  STRIDED_SLICE: stridedSlice,
  TILE: tile,
  TRANSPOSE: transpose,
} satisfies GpujsTable;
