/** Operators that move elements, choose some of them, or make them. */
import {
  alike,
  BYTES,
  count,
  type Draw,
  type Drawer,
  type DrawnInput,
  type DrawnType,
  FLOATS,
  giveInput,
  list,
  QUANTISED,
  scalar,
  WHOLE,
} from "./draw.ts";

const MOVED = [...FLOATS, ...WHOLE, ...QUANTISED, "BOOL"] as const;

/** An operator that moves elements of one tensor: how, by its shape. */
function makeMove(
  types: readonly DrawnType[],
  ranks: readonly [number, number],
  rest: (
    random: Draw,
    input: DrawnInput,
  ) => {
    readonly inputs?: readonly DrawnInput[];
    readonly options?: Record<string, number | boolean | string | readonly number[]>;
    readonly outputs?: number;
  },
): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(...ranks));
      const { inputs = [], options = {}, outputs = 1 } = rest(random, input);
      return { inputs: [input, ...inputs], outputs: Array.from({ length: outputs }, () => alike(input)), options };
    },
  };
}

const INDEXES = ["INT32", "INT64"] as const;

/** Indexes as a constant of INT32 or INT64, or as an input. */
function indexes(
  random: Draw,
  shape: readonly number[],
  most: number,
  type: DrawnType = random.pick(INDEXES),
): DrawnInput {
  if (random.bool()) return { type, shape, range: [0, most] };
  return { type, shape, data: random.ints(count(shape), 0, most) };
}

const pads = (random: Draw, rank: number, most: number) => Array.from({ length: 2 * rank }, () => random.int(0, most));

function paddings(random: Draw, rank: number, most: number): DrawnInput {
  return { type: random.pick(INDEXES), shape: [rank, 2], data: pads(random, rank, most) };
}

/** Factors of a number. */
function divisors(of: number): number[] {
  return Array.from({ length: of }, (_, at) => at + 1).filter((each) => of % each === 0);
}

export const movement: Readonly<Record<string, Drawer>> = {
  BATCH_TO_SPACE_ND: {
    types: [...FLOATS, ...WHOLE, ...BYTES],
    draw(random, type) {
      const blocks = [random.int(1, 2), random.int(1, 3)];
      const shape = [count(blocks) * random.int(1, 2), random.int(2, 4), random.int(2, 4), random.int(1, 3)];
      const input = giveInput(random, type, shape);
      const crops = [random.int(0, 1), 0, 0, random.int(0, 1)];
      return {
        inputs: [input, list(...blocks), { type: "INT32", shape: [2, 2], data: crops }],
        outputs: [alike(input)],
      };
    },
  },
  BITCAST: {
    types: [...FLOATS, ...WHOLE],
    draw(random, type) {
      const shape = random.shape(1, 3);
      if (type === "INT64") return { inputs: [{ type, shape }], outputs: [{ type: "INT64" }] };
      return { inputs: [{ type, shape }], outputs: [{ type: type === "INT32" ? "FLOAT32" : "INT32" }] };
    },
  },
  BROADCAST_ARGS: {
    types: INDEXES,
    draw(random, type) {
      const shape = random.shape(1, 4);
      const other = shape.map((extent) => (random.bool() ? 1 : extent)).slice(random.int(0, shape.length - 1));
      const constant = (data: readonly number[]): DrawnInput => ({ type, shape: [data.length], data });
      return {
        inputs: random.bool() ? [constant(shape), constant(other)] : [constant(other), constant(shape)],
        outputs: [{ type }],
        isCopied: true,
      };
    },
  },
  BROADCAST_TO: {
    types: MOVED,
    draw(random, type) {
      const shape = random.shape(1, 4);
      const small = shape.map((extent) => (random.bool() ? 1 : extent)).slice(random.int(0, shape.length - 1));
      const input = giveInput(random, type, small);
      return { inputs: [input, list(...shape)], outputs: [alike(input)], version: 2 };
    },
  },
  CAST: {
    types: [...FLOATS, ...WHOLE, "BOOL", ...QUANTISED],
    draw(random, type) {
      const to = random.pick([...FLOATS, ...WHOLE, "BOOL", ...QUANTISED] as const);
      const input: DrawnInput = {
        type,
        shape: random.shape(1, 4),
        ...(type === "FLOAT32" && { range: [0, 100] as const }),
      };
      return { inputs: [input], outputs: [{ type: to }], options: { inDataType: type, outDataType: to } };
    },
  },
  CONCATENATION: {
    types: MOVED,
    draw(random, type) {
      const shape = random.shape(1, 4);
      const axis = random.int(0, shape.length - 1);
      const first = giveInput(random, type, shape);
      const inputs = [
        first,
        ...Array.from({ length: random.int(1, 3) }, () => ({
          ...first,
          shape: shape.map((extent, at) => (at === axis ? random.int(1, 4) : extent)),
        })),
      ];
      const options = { axis: random.bool() ? axis : axis - shape.length, fusedActivationFunction: "NONE" };
      return { inputs, outputs: [alike(first)], options };
    },
  },
  DEPTH_TO_SPACE: {
    types: [...FLOATS, ...WHOLE, ...BYTES],
    draw(random, type) {
      const blockSize = random.int(1, 3);
      const input = giveInput(random, type, [
        random.int(1, 2),
        random.int(1, 3),
        random.int(1, 3),
        blockSize ** 2 * random.int(1, 2),
      ]);
      return { inputs: [input], outputs: [alike(input)], options: { blockSize } };
    },
  },
  DYNAMIC_UPDATE_SLICE: {
    types: [...FLOATS, ...WHOLE, "INT8", "BOOL"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const update = { ...input, shape: input.shape.map((extent) => random.int(1, extent)) };
      const start: DrawnInput = { type: random.pick(INDEXES), shape: [input.shape.length], range: [-3, 7] };
      return { inputs: [input, update, start], outputs: [alike(input)] };
    },
  },
  EXPAND_DIMS: makeMove([...FLOATS, ...WHOLE, ...QUANTISED], [1, 4], (random, { shape }) => ({
    inputs: [list(random.int(-shape.length - 1, shape.length))],
  })),
  FILL: {
    types: [...FLOATS, ...WHOLE, "BOOL", "INT8", "INT16"],
    draw(random, type) {
      const dims: DrawnInput = { type: random.pick(INDEXES), shape: [3], data: random.shape(3, 3) };
      return { inputs: [dims, scalar(type === "BOOL" ? 1 : random.int(-9, 9), type)], outputs: [{ type }] };
    },
  },
  GATHER: {
    types: MOVED,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const batchDims = random.next() < 0.3 ? random.int(0, input.shape.length - 1) : 0;
      const axis = random.int(batchDims, input.shape.length - 1);
      const shape = [...input.shape.slice(0, batchDims), ...random.shape(1, 2, 4)];
      const places = indexes(random, shape, (input.shape[axis] ?? 1) - 1);
      return { inputs: [input, places], outputs: [alike(input)], options: { axis, batchDims } };
    },
  },
  GATHER_ND: {
    types: [...FLOATS, ...WHOLE, ...QUANTISED, "BOOL"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const depth = random.int(1, input.shape.length);
      const places = random.int(1, 4);
      const data = Array.from({ length: places }, () =>
        input.shape.slice(0, depth).map((extent) => random.int(0, extent - 1)),
      ).flat();
      return {
        inputs: [input, { type: random.pick(INDEXES), shape: [places, depth], data }],
        outputs: [alike(input)],
      };
    },
  },
  MATRIX_DIAG: makeMove([...FLOATS, ...WHOLE, ...BYTES, "INT16"], [1, 3], () => ({})),
  MATRIX_SET_DIAG: {
    types: [...FLOATS, ...WHOLE, ...BYTES, "INT16"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(2, 4));
      const diagonal = { ...input, shape: [...input.shape.slice(0, -2), Math.min(...input.shape.slice(-2))] };
      return { inputs: [input, diagonal], outputs: [alike(input)] };
    },
  },
  MIRROR_PAD: {
    types: [...FLOATS, ...WHOLE, ...BYTES, "INT16"],
    draw(random, type) {
      const input = giveInput(
        random,
        type,
        random.shape(1, 4).map((extent) => extent + 1),
      );
      const mode = random.pick(["REFLECT", "SYMMETRIC"] as const);
      return { inputs: [input, paddings(random, input.shape.length, 1)], outputs: [alike(input)], options: { mode } };
    },
  },
  ONE_HOT: {
    types: [...FLOATS, ...WHOLE, "BOOL", ...BYTES],
    draw(random, type) {
      const depth = random.int(1, 5);
      const places: DrawnInput = { type: random.pick(INDEXES), shape: random.shape(1, 3, 3), range: [-1, depth] };
      const rank = places.shape.length;
      const axis = random.int(-1, rank);
      return {
        inputs: [places, scalar(depth), scalar(1, type), scalar(0, type)],
        outputs: [{ type }],
        options: { axis },
      };
    },
  },
  PACK: {
    types: [...FLOATS, ...WHOLE, ...QUANTISED],
    draw(random, type) {
      const first = giveInput(random, type, random.shape(1, 3));
      const inputs = Array.from({ length: random.int(1, 4) }, () => first);
      const axis = random.int(-first.shape.length - 1, first.shape.length);
      return { inputs, outputs: [alike(first)], options: { axis, valuesCount: inputs.length } };
    },
  },
  PAD: makeMove([...FLOATS, ...WHOLE, ...QUANTISED], [1, 4], (random, { shape }) => ({
    inputs: [paddings(random, shape.length, 2)],
  })),
  PADV2: {
    types: [...FLOATS, ...WHOLE, ...QUANTISED],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const value = { ...alike(input), shape: [], data: [random.int(0, 9)] };
      return { inputs: [input, paddings(random, input.shape.length, 2), value], outputs: [alike(input)] };
    },
  },
  RANGE: {
    types: [...FLOATS, ...WHOLE],
    draw(random, type) {
      const start = random.int(-5, 5);
      const step = random.pick([1, 2, 3, -1, -2]);
      return {
        inputs: [scalar(start, type), scalar(start + step * random.int(1, 5), type), scalar(step, type)],
        outputs: [{ type }],
        isCopied: true,
      };
    },
  },
  RANK: {
    types: [...FLOATS, "INT32"],
    draw: (random, type) => ({ inputs: [giveInput(random, type, random.shape(1, 4))], outputs: [{ type: "INT32" }] }),
  },
  RESHAPE: makeMove(MOVED, [1, 4], (random, { shape }) => {
    const first = random.pick(divisors(count(shape)));
    const target = [first, count(shape) / first];
    return { inputs: [list(...(random.bool() ? target : [-1, target[1] ?? 1]))] };
  }),
  RESIZE_BILINEAR: makeResize([...FLOATS, ...QUANTISED]),
  RESIZE_NEAREST_NEIGHBOR: makeResize([...FLOATS, ...QUANTISED]),
  REVERSE_SEQUENCE: {
    types: [...FLOATS, ...WHOLE, "UINT8", "INT16"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(2, 4));
      const [seqDim = 0, batchDim = 1] = random.order(input.shape.length);
      const lengths: DrawnInput = {
        type: random.pick(INDEXES),
        shape: [input.shape[batchDim] ?? 1],
        range: [1, input.shape[seqDim] ?? 1],
      };
      return { inputs: [input, lengths], outputs: [alike(input)], options: { seqDim, batchDim } };
    },
  },
  REVERSE_V2: makeMove(MOVED, [1, 4], (random, { shape }) => {
    const first = random.int(0, shape.length - 1);
    return { inputs: [list(first)] };
  }),
  SCATTER_ND: {
    types: [...FLOATS, ...WHOLE, ...BYTES, "BOOL"],
    draw(random, type) {
      const shape = random.shape(1, 3);
      const depth = random.int(1, shape.length);
      const places = random.int(1, 4);
      const data = Array.from({ length: places }, () =>
        shape.slice(0, depth).map((extent) => random.int(0, extent - 1)),
      ).flat();
      const updates = { type, shape: [places, ...shape.slice(depth)] };
      return {
        inputs: [{ type: "INT32", shape: [places, depth], data }, updates, list(...shape)],
        outputs: [{ type }],
      };
    },
  },
  SELECT: makeSelect("SELECT"),
  SELECT_V2: makeSelect("SELECT_V2"),
  SHAPE: {
    types: [...FLOATS, ...WHOLE],
    draw(random, type) {
      const outType = random.pick(INDEXES);
      return {
        inputs: [giveInput(random, type, random.shape(1, 4))],
        outputs: [{ type: outType }],
        isCopied: true,
        options: { outType },
      };
    },
  },
  SLICE: {
    types: MOVED,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const begin = input.shape.map((extent) => random.int(0, extent - 1));
      const size = input.shape.map((extent, at) =>
        random.next() < 0.3 ? -1 : random.int(1, extent - (begin[at] ?? 0)),
      );
      const kind = random.pick(INDEXES);
      const constant = (data: readonly number[]): DrawnInput => ({ type: kind, shape: [data.length], data });
      return { inputs: [input, constant(begin), constant(size)], outputs: [alike(input)] };
    },
  },
  SPACE_TO_BATCH_ND: {
    types: [...FLOATS, ...WHOLE, ...BYTES],
    draw(random, type) {
      const blocks = [random.int(1, 2), random.int(1, 3)];
      const padding = [random.int(0, 1), 0, 0, random.int(0, 1)];
      const extents = blocks.map((block, at) => {
        const least = (padding[2 * at] ?? 0) + (padding[2 * at + 1] ?? 0);
        return block * random.int(1 + least, 3) - least;
      });
      const input = giveInput(random, type, [random.int(1, 2), ...extents, random.int(1, 3)]);
      return {
        inputs: [input, list(...blocks), { type: "INT32", shape: [2, 2], data: padding }],
        outputs: [alike(input)],
      };
    },
  },
  SPACE_TO_DEPTH: {
    types: [...FLOATS, ...WHOLE, ...BYTES],
    draw(random, type) {
      const blockSize = random.int(1, 3);
      const input = giveInput(random, type, [
        random.int(1, 2),
        blockSize * random.int(1, 3),
        blockSize * random.int(1, 3),
        random.int(1, 3),
      ]);
      return { inputs: [input], outputs: [alike(input)], options: { blockSize } };
    },
  },
  SPARSE_TO_DENSE: {
    types: [...FLOATS, ...WHOLE, ...BYTES],
    draw(random, type) {
      const shape = random.shape(1, 3);
      const places = Math.min(random.int(1, 3), count(shape));
      const flat = random
        .order(count(shape))
        .slice(0, places)
        .sort((one, other) => one - other);
      const data = flat.flatMap((at) =>
        shape.map((extent, axis) => Math.floor(at / count(shape.slice(axis + 1))) % extent),
      );
      return {
        inputs: [
          { type: "INT32", shape: [places, shape.length], data },
          list(...shape),
          { type, shape: [places] },
          scalar(0, type),
        ],
        outputs: [{ type }],
      };
    },
  },
  SPLIT: {
    types: [...FLOATS, ...WHOLE, ...QUANTISED],
    draw(random, type) {
      const shape = random.shape(1, 4);
      const axis = random.int(0, shape.length - 1);
      const numSplits = random.int(1, 3);
      const input = giveInput(
        random,
        type,
        shape.map((extent, at) => (at === axis ? extent * numSplits : extent)),
      );
      return {
        inputs: [scalar(random.bool() ? axis : axis - shape.length), input],
        outputs: Array.from({ length: numSplits }, () => alike(input)),
        options: { numSplits },
      };
    },
  },
  SPLIT_V: {
    types: [...FLOATS, ...WHOLE, ...QUANTISED],
    draw(random, type) {
      const shape = random.shape(1, 4);
      const axis = random.int(0, shape.length - 1);
      const sizes = random.ints(random.int(1, 3), 1, 4);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const input = giveInput(
        random,
        type,
        shape.map((extent, at) => (at === axis ? total : extent)),
      );
      const stated = random.bool() ? sizes : [-1, ...sizes.slice(1)];
      return {
        inputs: [input, list(...stated), scalar(random.bool() ? axis : axis - shape.length)],
        outputs: sizes.map(() => alike(input)),
        options: { numSplits: sizes.length },
      };
    },
  },
  SQUEEZE: {
    types: MOVED,
    draw(random, type) {
      const shape = random.shape(2, 4).map((extent, at) => (at === 0 ? 1 : extent));
      const input = giveInput(random, type, shape);
      const squeezeDims = random.bool() ? [] : [random.bool() ? 0 : -shape.length];
      return { inputs: [input], outputs: [alike(input)], options: { squeezeDims } };
    },
  },
  STRIDED_SLICE: {
    types: MOVED,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const rank = input.shape.length;
      const strides = input.shape.map(() => random.pick([1, 1, 2, -1, -2]));
      const begin = input.shape.map((extent, at) =>
        (strides[at] ?? 1) > 0 ? random.int(-extent, 0) : random.int(0, extent - 1),
      );
      const shrinkAxisMask = rank > 1 && random.bool() ? 1 << random.int(0, rank - 1) : 0;
      const stepped = strides.map((stride, at) => (shrinkAxisMask & (1 << at) ? 1 : stride));
      const end = input.shape.map((extent, at) => ((stepped[at] ?? 1) > 0 ? extent : -extent - 1));
      const options = {
        shrinkAxisMask,
        beginMask: random.int(0, 2 ** rank - 1),
        endMask: random.int(0, 2 ** rank - 1),
        ellipsisMask: 0,
        newAxisMask: 0,
        offset: false,
      };
      return { inputs: [input, list(...begin), list(...end), list(...stepped)], outputs: [alike(input)], options };
    },
  },
  TILE: makeMove([...FLOATS, ...WHOLE, "BOOL", "UINT8", "INT8", "INT16"], [1, 4], (random, { shape }) => {
    const repeats = shape.map(() => random.int(1, 3));
    return { inputs: [{ type: random.pick(INDEXES), shape: [shape.length], data: repeats }] };
  }),
  TOPK_V2: {
    types: [...FLOATS, ...WHOLE, ...BYTES, "INT16"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 3, 6), [-5, 5]);
      return {
        inputs: [input, scalar(random.int(1, input.shape.at(-1) ?? 1))],
        outputs: [alike(input), { type: "INT32" }],
      };
    },
  },
  TRANSPOSE: makeMove(MOVED, [1, 5], (random, { shape }) => ({ inputs: [list(...random.order(shape.length))] })),
  UNIQUE: {
    types: [...FLOATS, "INT32", ...BYTES, "INT16"],
    draw(random, type) {
      const idxOutType = random.pick(INDEXES);
      const input: DrawnInput = { type, shape: [random.int(1, 9)], range: [0, 4] };
      const data = random.ints(input.shape[0] ?? 1, 0, 4);
      return {
        inputs: [{ ...input, ...(random.bool() && { data }) }],
        outputs: [{ type }, { type: idxOutType }],
        isCopied: true,
        options: { idxOutType },
      };
    },
  },
  UNPACK: {
    types: [...FLOATS, "INT32", ...QUANTISED, "BOOL"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(2, 4, 4));
      const axis = random.int(-input.shape.length, input.shape.length - 1);
      const num = input.shape.at(axis) ?? 1;
      return { inputs: [input], outputs: Array.from({ length: num }, () => alike(input)), options: { num, axis } };
    },
  },
  WHERE: {
    types: [...FLOATS, "INT32", ...BYTES, "BOOL"],
    draw: (random, type) => ({
      inputs: [{ type, shape: random.shape(1, 3), range: [0, 1] }],
      outputs: [{ type: "INT64" }],
      isCopied: true,
    }),
  },
};

function makeResize(types: readonly DrawnType[]): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, [random.int(1, 2), random.int(1, 6), random.int(1, 6), random.int(1, 3)]);
      const options = random.pick([{}, { alignCorners: true }, { halfPixelCenters: true }]);
      return { inputs: [input, list(random.int(1, 9), random.int(1, 9))], outputs: [alike(input)], options };
    },
  };
}

function makeSelect(operator: "SELECT" | "SELECT_V2"): Drawer {
  return {
    types: [...FLOATS, ...WHOLE, ...QUANTISED, "BOOL"],
    draw(random, type) {
      const shape = random.shape(1, 4);
      const one = giveInput(random, type, shape);
      const some = () => (operator === "SELECT_V2" ? shape.map((extent) => (random.next() < 0.3 ? 1 : extent)) : shape);
      return {
        inputs: [
          { type: "BOOL", shape: some() },
          { ...one, shape: some() },
          { ...one, shape: some() },
        ],
        outputs: [alike(one)],
      };
    },
  };
}
