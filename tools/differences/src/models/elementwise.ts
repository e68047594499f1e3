/** Operators that compute each element from those at its place, and reductions. */
import {
  alike,
  BYTES,
  type Draw,
  type Drawer,
  type DrawnType,
  FLOATS,
  giveInput,
  isQuantised,
  list,
  narrower,
  QUANTISED,
  quantisation,
  result,
  WHOLE,
} from "./draw.ts";

type Range = readonly [number, number];

/** An operator of one tensor. */
function unary(types: readonly DrawnType[], range?: Range): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4), range);
      return { inputs: [input], outputs: [result(random, type)] };
    },
  };
}

/** An operator of one tensor whose result has a fixed quantisation. */
function toFixed(types: readonly DrawnType[], scale: number, center: number, range?: Range): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4), range);
      const zeroPoint = center - (type === "INT8" ? 128 : 0);
      const fixed = type === "INT16" ? { scale: 1 / 32768, zeroPoint: 0 } : { scale, zeroPoint };
      return { inputs: [input], outputs: [{ type, ...(isQuantised(type) && fixed) }] };
    },
  };
}

/** An 8-bit tensor of numbers above 0. */
function positive(types: readonly DrawnType[]): Drawer {
  return {
    types,
    draw(random, type) {
      const shape = random.shape(1, 4);
      if (!isQuantised(type)) return { inputs: [giveInput(random, type, shape, [0.1, 9])], outputs: [{ type }] };
      const zeroPoint = type === "INT8" ? -128 : 0;
      const input = {
        type,
        shape,
        scale: 0.03,
        zeroPoint,
        range: [zeroPoint + 20, type === "INT8" ? 127 : 32767] as const,
      };
      return { inputs: [{ ...input, ...(type === "INT16" && { scale: 1e-4 }) }], outputs: [result(random, type, 6)] };
    },
  };
}

/** Fused activations of operators that have them. */
const activations = ["NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"] as const;

function pairOf(random: Draw, type: DrawnType, range?: Range, second: Range | undefined = range) {
  const shape = random.shape(1, 4);
  const shapes = random.bool() ? [shape, shape] : [shape, narrower(random, shape)];
  const [one = [], other = []] = random.bool() ? shapes : [...shapes].reverse();
  // The engine takes no scalars as inputs.
  const place = (extents: readonly number[]) => (extents.length === 0 ? [1] : extents);
  return [giveInput(random, type, place(one), range), giveInput(random, type, place(other), second)] as const;
}

interface Binary {
  readonly range?: Range;
  readonly second?: Range;
  readonly isFused?: boolean;
  readonly output?: (random: Draw, type: DrawnType) => ReturnType<typeof result>;
  readonly isAlike?: boolean;
}

/** An operator of two tensors that broadcast. */
function binary(
  types: readonly DrawnType[],
  { range, second, isFused, output = result, isAlike }: Binary = {},
): Drawer {
  return {
    types,
    draw(random, type) {
      const [one, other] = pairOf(random, type, range, second);
      const isPlain = !isFused || type === "INT64" || type === "INT16";
      return {
        inputs: isAlike ? [one, { ...other, ...alike(one) }] : [one, other],
        outputs: [isAlike ? alike(one) : output(random, type)],
        ...(isFused && { options: { fusedActivationFunction: isPlain ? "NONE" : random.pick(activations) } }),
      };
    },
  };
}

const comparison = (types: readonly DrawnType[]): Drawer =>
  binary(types, { range: [-2, 2], output: () => ({ type: "BOOL" }) });

/** A reduction along axes. */
function reduction(types: readonly DrawnType[], isAlike = false, range?: Range): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4), range);
      const rank = input.shape.length;
      const axes = random.order(rank).slice(0, random.int(1, rank));
      const signed = axes.map((axis) => (random.bool() ? axis : axis - rank));
      return {
        inputs: [input, list(...signed)],
        outputs: [isAlike ? alike(input) : result(random, type)],
        options: { keepDims: random.bool() },
      };
    },
  };
}

function extremeAt(types: readonly DrawnType[]): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4), [-9, 9]);
      const axis = random.int(-input.shape.length, input.shape.length - 1);
      const outputType = random.pick(WHOLE);
      return { inputs: [input, list(axis)], outputs: [{ type: outputType }], options: { outputType } };
    },
  };
}

export const elementwise: Readonly<Record<string, Drawer>> = {
  ABS: unary([...FLOATS, "INT32", "INT8", "INT16"]),
  ADD: binary([...FLOATS, ...WHOLE, ...QUANTISED], { isFused: true }),
  ADD_N: {
    types: [...FLOATS, "INT32"],
    draw(random, type) {
      const shape = random.shape(1, 4);
      return {
        inputs: Array.from({ length: random.int(2, 4) }, () => giveInput(random, type, shape)),
        outputs: [{ type }],
      };
    },
  },
  ARG_MAX: extremeAt([...FLOATS, "INT32", ...BYTES, "BOOL"]),
  ARG_MIN: extremeAt([...FLOATS, "INT32", ...BYTES, "BOOL"]),
  ATAN2: equalShapes(FLOATS),
  BITWISE_XOR: {
    types: ["INT32", ...QUANTISED],
    draw(random, type) {
      const [one, other] = pairOf(random, type, [-1000, 1000]);
      return { inputs: [bare(one), bare(other)], outputs: [{ type }] };
    },
  },
  CEIL: unary(FLOATS),
  COS: unary(FLOATS),
  CUMSUM: {
    types: [...FLOATS, ...WHOLE],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const axis = random.int(-input.shape.length, input.shape.length - 1);
      return {
        inputs: [input, { type: "INT32", shape: [], data: [axis] }],
        outputs: [{ type }],
        options: { exclusive: random.bool(), reverse: random.bool() },
      };
    },
  },
  DIV: binary([...FLOATS, "INT32"], { range: [-90, 90], second: [1, 9], isFused: true }),
  ELU: unary([...FLOATS, "INT8"]),
  EQUAL: comparison([...FLOATS, ...WHOLE, ...QUANTISED, "BOOL"]),
  EXP: unary([...FLOATS, "INT8", "INT16"], [-3, 3]),
  FLOOR: unary(FLOATS),
  FLOOR_DIV: binary([...FLOATS, "INT32"], { range: [-90, 90], second: [1, 9] }),
  FLOOR_MOD: binary([...FLOATS, ...WHOLE], { range: [-90, 90], second: [1, 9] }),
  GELU: {
    types: [...FLOATS, ...BYTES],
    draw(random, type) {
      return {
        inputs: [giveInput(random, type, random.shape(1, 4))],
        outputs: [result(random, type)],
        options: { approximate: random.bool() },
      };
    },
  },
  GREATER: comparison([...FLOATS, ...WHOLE, ...QUANTISED]),
  GREATER_EQUAL: comparison([...FLOATS, ...WHOLE, ...QUANTISED]),
  HARD_SWISH: unary([...FLOATS, ...BYTES]),
  L2_NORMALIZATION: toFixed([...FLOATS, ...BYTES], 1 / 128, 128),
  LEAKY_RELU: {
    types: [...FLOATS, ...QUANTISED],
    draw(random, type) {
      return {
        inputs: [giveInput(random, type, random.shape(1, 4))],
        outputs: [result(random, type)],
        options: { alpha: random.pick([0.1, 0.33, -0.5, 1.5]) },
      };
    },
  },
  LESS: comparison([...FLOATS, ...WHOLE, ...QUANTISED]),
  LESS_EQUAL: comparison([...FLOATS, ...WHOLE, ...QUANTISED]),
  LOG: positive([...FLOATS, "INT8"]),
  LOGICAL_AND: binary(["BOOL"]),
  LOGICAL_NOT: unary(["BOOL"]),
  LOGICAL_OR: binary(["BOOL"]),
  LOGISTIC: toFixed([...FLOATS, ...QUANTISED], 1 / 256, 0),
  LOG_SOFTMAX: toFixed([...FLOATS, ...BYTES], 16 / 256, 255),
  MAXIMUM: binary([...FLOATS, ...WHOLE, ...QUANTISED], { isAlike: true }),
  MEAN: reduction([...FLOATS, ...WHOLE, ...QUANTISED]),
  MINIMUM: binary([...FLOATS, ...WHOLE, ...QUANTISED], { isAlike: true }),
  MUL: binary([...FLOATS, ...WHOLE, ...QUANTISED], {
    isFused: true,
    output: (random, type) => result(random, type, 12),
  }),
  NEG: unary([...FLOATS, ...WHOLE]),
  NOT_EQUAL: comparison([...FLOATS, ...WHOLE, ...QUANTISED, "BOOL"]),
  POW: {
    types: [...FLOATS, "INT32"],
    draw(random, type) {
      const [one, other] = pairOf(
        random,
        type,
        type === "INT32" ? [-5, 5] : [0.1, 4],
        type === "INT32" ? [0, 6] : [-2, 3],
      );
      return { inputs: [one, other], outputs: [{ type }] };
    },
  },
  PRELU: {
    types: [...FLOATS, ...BYTES],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(2, 4));
      const slopes = { ...giveInput(random, type, input.shape.slice(1)), ...quantisation(random, type, 1) };
      return { inputs: [input, slopes], outputs: [result(random, type)] };
    },
  },
  REDUCE_ALL: reduction(["BOOL"]),
  REDUCE_ANY: reduction(["BOOL"]),
  REDUCE_MAX: reduction([...FLOATS, ...WHOLE, ...QUANTISED], true),
  REDUCE_MIN: reduction([...FLOATS, ...WHOLE, ...QUANTISED], true),
  REDUCE_PROD: reduction([...FLOATS, ...WHOLE], false, [-3, 3]),
  RELU: unary([...FLOATS, ...QUANTISED]),
  RELU6: unary([...FLOATS, ...BYTES, "INT16"]),
  RELU_0_TO_1: unary(FLOATS),
  RELU_N1_TO_1: unary([...FLOATS, ...BYTES]),
  RIGHT_SHIFT: {
    types: ["INT32", ...QUANTISED],
    draw(random, type) {
      const shape = random.shape(1, 4);
      const amounts = { type, shape, range: [0, type === "INT32" ? 40 : 9] as const };
      return { inputs: [{ type, shape }, amounts], outputs: [{ type }] };
    },
  },
  ROUND: unary(FLOATS),
  RSQRT: positive([...FLOATS, "INT8"]),
  SIGN: unary([...FLOATS, "INT32"], [-2, 2]),
  SIN: unary(FLOATS),
  SOFTMAX: {
    types: [...FLOATS, ...QUANTISED],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const zeroPoint = type === "INT8" ? -128 : 0;
      const fixed = type === "INT16" ? { scale: 1 / 32768, zeroPoint: 0 } : { scale: 1 / 256, zeroPoint };
      return {
        inputs: [input],
        outputs: [{ type, ...(isQuantised(type) && fixed) }],
        options: { beta: random.pick([1, 0.5, 2]) },
      };
    },
  },
  SQRT: positive([...FLOATS, "INT8"]),
  SQUARE: unary(FLOATS),
  SQUARED_DIFFERENCE: binary([...FLOATS, "INT32", "INT8"], { output: (random, type) => result(random, type, 30) }),
  SUB: binary([...FLOATS, ...WHOLE, ...QUANTISED], { isFused: true }),
  SUM: reduction([...FLOATS, ...WHOLE, ...QUANTISED]),
  TANH: toFixed([...FLOATS, ...QUANTISED], 1 / 128, 128),
  ZEROS_LIKE: unary([...FLOATS, ...WHOLE]),
  FAKE_QUANT: {
    types: FLOATS,
    draw(random) {
      return {
        inputs: [giveInput(random, "FLOAT32", random.shape(1, 4))],
        outputs: [{ type: "FLOAT32" }],
        options: {
          min: -random.int(0, 3),
          max: random.int(1, 4),
          numBits: random.pick([4, 8, 16]),
          narrowRange: random.bool(),
        },
      };
    },
  },
  QUANTIZE: {
    types: [...FLOATS, ...QUANTISED],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 4));
      const pairs: Readonly<Record<string, readonly DrawnType[]>> = {
        FLOAT32: QUANTISED,
        UINT8: BYTES,
        INT8: BYTES,
        INT16: ["INT8", "INT16", "INT32"],
      };
      const to = random.pick(pairs[type] ?? BYTES);
      const output = to === "INT32" ? { type: to, scale: 0.001, zeroPoint: 0 } : result(random, to);
      return { inputs: [input], outputs: [output] };
    },
  },
  DEQUANTIZE: {
    types: QUANTISED,
    draw: (random, type) => ({ inputs: [giveInput(random, type, random.shape(1, 4))], outputs: [{ type: "FLOAT32" }] }),
  },
  STABLEHLO_ADD: equalShapes([...FLOATS, ...WHOLE]),
  STABLEHLO_AND: equalShapes(["BOOL", ...WHOLE]),
  STABLEHLO_MAXIMUM: equalShapes([...FLOATS, ...WHOLE]),
  STABLEHLO_MINIMUM: equalShapes([...FLOATS, ...WHOLE]),
  STABLEHLO_MULTIPLY: equalShapes([...FLOATS, ...WHOLE]),
  STABLEHLO_SHIFT_LEFT: equalShapes(["INT32", "INT8", "INT16"], [0, 9]),
};

function equalShapes(types: readonly DrawnType[], second?: Range): Drawer {
  return {
    types,
    draw(random, type) {
      const shape = random.shape(1, 4);
      return {
        inputs: [
          { type, shape },
          { type, shape, ...(second && { range: second }) },
        ],
        outputs: [{ type }],
      };
    },
  };
}

/** A tensor without quantisation. */
function bare({ type, shape, range }: { type: DrawnType; shape: readonly number[]; range?: Range }) {
  return { type, shape, ...(range && { range }) };
}
