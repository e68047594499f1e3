/**
 * Computations whose results are known, on operands that break engines which compute in float32: sums at 2^24, rounding between two numbers
 * of 8 bits, long loops, fused multiply-add, numbers that are not finite, and functions of large arguments.
 */
import type { TensorInfo } from "@nnhal/operations";
import type { OperandTypeName, OperationTypeName } from "@nnhal/types";
import type { ProbeArgument, ProbeFollowing, ProbeOperation, ProbeTensor } from "./run-alone.ts";

/** An operation and its right result. */
export interface ProbeCase extends ProbeOperation {
  readonly name: OperationTypeName;
  readonly expected: readonly number[];
  /** Another result that is as right. Default: none. */
  readonly orElse?: readonly number[];
  /** The greatest difference of an element, as a part of its size, at least of 1. 0: equal to the bit, -0 and NaN included. Default: 0. */
  readonly allowance?: number;
}

const infoOf = (type: OperandTypeName, dimensions: readonly number[], scale = 0, zeroPoint = 0): TensorInfo => ({
  type,
  dimensions,
  scale,
  zeroPoint,
});

const floats = (...elements: number[]): ProbeTensor => ({ ...infoOf("TENSOR_FLOAT32", [elements.length]), elements });
const bytes = (elements: readonly number[], scale: number, zeroPoint: number): ProbeTensor => ({
  ...infoOf("TENSOR_QUANT8_ASYMM", [elements.length], scale, zeroPoint),
  elements,
});
const constant = (tensor: ProbeTensor): ProbeTensor => ({ ...tensor, isConstant: true });

/** Products of 255 · 255 whose sum is as near to 2^24 as it can be. */
const DEPTH = 258;
const UNITS = 4;
const MOST = DEPTH * 255 * 255;

/** The whole number nearest to a number, ties to the even one. */
function roundedToEven(value: number): number {
  const floor = Math.floor(value);
  const isUp = value - floor > 0.5 || (value - floor === 0.5 && floor % 2 !== 0);
  return isUp ? floor + 1 : floor;
}

/**
 * A layer of 8 bits with sums at both ends of what float32 has exactly: those of the rows are 0, the greatest, and one less. The bias
 * leaves a few units of them, which are ties between two steps of the output.
 */
function layerOf8Bits(): ProbeCase {
  const rows = [
    Array.from({ length: DEPTH }, () => 255),
    Array.from({ length: DEPTH }, () => 0),
    Array.from({ length: DEPTH }, (_, place) => (place === DEPTH - 1 ? 254 : 255)),
  ];
  const weights = Array.from({ length: UNITS }, () => Array.from({ length: DEPTH }, () => 255)).flat();
  const bias = [-MOST + 21, -MOST + 23, -MOST, 255];
  const output = infoOf("TENSOR_QUANT8_ASYMM", [rows.length, UNITS], 2, 7);
  const sums = rows.flatMap((row) => bias.map((start) => start + 255 * row.reduce((sum, each) => sum + each, 0)));
  return {
    name: "FULLY_CONNECTED",
    args: {
      input: { ...infoOf("TENSOR_QUANT8_ASYMM", [rows.length, DEPTH], 1, 0), elements: rows.flat() },
      weights: constant({ ...infoOf("TENSOR_QUANT8_ASYMM", [UNITS, DEPTH], 1, 0), elements: weights }),
      bias: constant({ ...infoOf("TENSOR_INT32", [UNITS], 1, 0), elements: bias }),
      activation: 0,
    },
    output,
    expected: sums.map((sum) => Math.min(255, Math.max(0, roundedToEven(sum / 2) + 7))),
  };
}

/** Weights with a scale for each channel at both limits, and an input whose zero point is its least number. */
function convolutionByChannel(): ProbeCase {
  const DEPTH = 64;
  const scales = [1, 0.5, 0.25, 2];
  const rows = [-128, 127, 0].map((value) => Array.from({ length: DEPTH }, (_, place) => value + (place % 2)));
  const inputs = rows.map((row) => row.map((each) => Math.min(127, each)));
  const weights = scales.map((_, channel) =>
    Array.from({ length: DEPTH }, (_, place) => (place % (channel + 2) ? 127 : -127)),
  );
  const output = infoOf("TENSOR_QUANT8_ASYMM_SIGNED", [1, 1, 3, 4], 2 ** 14, -3);
  const expected = inputs.flatMap((row) =>
    weights.map((filter, channel) => {
      const sum = filter.reduce((total, weight, place) => total + weight * ((row[place] ?? 0) + 128), 0);
      const steps = roundedToEven((sum * (scales[channel] ?? 0)) / 2 ** 14) - 3;
      return Math.min(127, Math.max(-128, steps));
    }),
  );
  const none = { paddingLeft: 0, paddingRight: 0, paddingTop: 0, paddingBottom: 0, activation: 0, nchw: false };
  const steps = { strideWidth: 1, strideHeight: 1, dilationWidth: 1, dilationHeight: 1 };
  return {
    name: "CONV_2D",
    args: {
      input: { ...infoOf("TENSOR_QUANT8_ASYMM_SIGNED", [1, 1, 3, DEPTH], 1, -128), elements: inputs.flat() },
      filter: constant({
        ...infoOf("TENSOR_QUANT8_SYMM_PER_CHANNEL", [4, 1, 1, DEPTH]),
        channelQuant: { scales, channelDim: 0 },
        elements: weights.flat(),
      }),
      bias: constant({ ...infoOf("TENSOR_INT32", [4]), elements: [0, 0, 0, 0] }),
      ...none,
      ...steps,
    },
    output,
    expected,
  };
}

/**
 * A layer of 8 bits whose sums go beyond 2^25 and come back to a few units: the second half of the weights is the opposite of the first, and
 * the inputs are the same except the last.
 */
function layerBeyond24Bits(): ProbeCase {
  const HALF = 1032;
  const ZERO = 128;
  const rows = [3, -7, 20].map((more) =>
    Array.from({ length: 2 * HALF }, (_, place) => (place === 2 * HALF - 1 ? 200 + more : 255 - ((place % HALF) % 6))),
  );
  const inputs = rows.map((row) => row.map((each, place) => (place === HALF - 1 ? 200 : each)));
  const weights = Array.from({ length: UNITS }, (_, unit) => {
    const half = Array.from({ length: HALF }, (_, place) =>
      place === HALF - 1 ? unit + 1 : 127 - ((place + unit) % 5),
    );
    return [...half, ...half.map((each) => -each)];
  });
  const bias = [0, 5, -9, 40];
  return {
    name: "FULLY_CONNECTED",
    args: {
      input: { ...infoOf("TENSOR_QUANT8_ASYMM", [rows.length, 2 * HALF], 1, 0), elements: inputs.flat() },
      weights: constant({
        ...infoOf("TENSOR_QUANT8_ASYMM", [UNITS, 2 * HALF], 1, ZERO),
        elements: weights.flat().map((each) => each + ZERO),
      }),
      bias: constant({ ...infoOf("TENSOR_INT32", [UNITS], 1, 0), elements: bias }),
      activation: 0,
    },
    output: infoOf("TENSOR_QUANT8_ASYMM", [rows.length, UNITS], 1, 100),
    expected: [3, -7, 20].flatMap((more) => bias.map((start, unit) => 100 + start - more * (unit + 1))),
  };
}

/** A depthwise layer of 8 bits with the greatest products of both signs; the scale makes a tie of every sum that is odd. */
function depthwiseLayer(): ProbeCase {
  const [SIDE, CHANNELS, ZERO] = [2, 8, 128];
  const cells = SIDE * SIDE;
  const channels = Array.from({ length: CHANNELS }, (_, channel) => channel);
  const inputs = Array.from({ length: cells }, (_, cell) => channels.map((c) => ((cell + c) % 3 === 0 ? 0 : 255 - c)));
  const weights = inputs.map((_, cell) => channels.map((channel) => ((cell * channel) % 2 === 0 ? 255 : 1)));
  const sums = channels.map((channel) =>
    inputs.reduce(
      (sum, pixel, cell) => sum + ((pixel[channel] ?? 0) - ZERO) * ((weights[cell]?.[channel] ?? 0) - ZERO),
      0,
    ),
  );
  const bias = sums.map((sum, channel) => 2 * channel - 7 - sum);
  const none = { paddingLeft: 0, paddingRight: 0, paddingTop: 0, paddingBottom: 0, activation: 0, nchw: false };
  const steps = { strideWidth: 1, strideHeight: 1, dilationWidth: 1, dilationHeight: 1 };
  return {
    name: "DEPTHWISE_CONV_2D",
    args: {
      input: { ...infoOf("TENSOR_QUANT8_ASYMM", [1, SIDE, SIDE, CHANNELS], 1, ZERO), elements: inputs.flat() },
      filter: constant({
        ...infoOf("TENSOR_QUANT8_ASYMM", [1, SIDE, SIDE, CHANNELS], 1, ZERO),
        elements: weights.flat(),
      }),
      bias: constant({ ...infoOf("TENSOR_INT32", [CHANNELS], 1), elements: bias }),
      depthMultiplier: 1,
      ...none,
      ...steps,
    },
    output: infoOf("TENSOR_QUANT8_ASYMM", [1, 1, 1, CHANNELS], 2, 3),
    expected: channels.map((channel) => Math.min(255, Math.max(0, roundedToEven((2 * channel - 7) / 2) + 3))),
  };
}

/** Layers of 8 bits. */
export const layersOf8Bits: readonly ProbeCase[] = [
  layerOf8Bits(),
  convolutionByChannel(),
  layerBeyond24Bits(),
  depthwiseLayer(),
];

/** Conversions of real numbers to 8 bits, and comparisons of 8 bits as real numbers of float32. */
export const numbersOf8Bits: readonly ProbeCase[] = [
  {
    name: "QUANTIZE",
    args: { input: floats(0, 1.1, -100, 1000, -0.6, 0.74) },
    output: infoOf("TENSOR_QUANT8_ASYMM", [6], 0.5, 10),
    expected: [10, 12, 0, 255, 9, 11],
  },
  {
    name: "ADD",
    args: { left: bytes([128, 130, 120, 255], 0.5, 128), right: bytes([1, 2, 0, 255], 2, 1), activation: 0 },
    output: infoOf("TENSOR_QUANT8_ASYMM", [4], 1, 20),
    expected: [20, 23, 14, 255],
  },
  comparison(),
];

/** Three steps of 0.1 and one of 0.3: their products with the scales are equal in float32 for some numbers of steps only. */
function comparison(): ProbeCase {
  const steps = Array.from({ length: 80 }, (_, index) => index - 15);
  const [small, large] = [Math.fround(0.1), Math.fround(0.3)];
  return {
    name: "EQUAL",
    args: {
      left: bytes(
        steps.map((step) => 49 + 3 * step),
        small,
        49,
      ),
      right: bytes(
        steps.map((step) => 20 + step),
        large,
        20,
      ),
    },
    output: infoOf("TENSOR_BOOL8", [steps.length]),
    expected: steps.map((step) => (Math.fround(3 * step * small) === Math.fround(step * large) ? 1 : 0)),
  };
}

/** The number of turns of the longest loop: more than fit in 16 bits. */
const TURNS = 70_000;

/** A loop of many turns, whose index needs more than 16 bits. */
export const longSums: readonly ProbeCase[] = [
  {
    name: "REDUCE_SUM",
    args: {
      input: {
        ...infoOf("TENSOR_FLOAT32", [TURNS]),
        elements: Float32Array.from({ length: TURNS }, (_, place) => (place === TURNS - 1 ? 5 : 1)),
      },
      axes: constant({ ...infoOf("TENSOR_INT32", [1]), elements: [0] }),
      keepDims: false,
    },
    output: infoOf("TENSOR_FLOAT32", [1]),
    expected: [TURNS + 4],
  },
];

function sumWithZero(...values: number[]): ProbeCase {
  const given = values.map(Math.fround);
  return {
    name: "ADD",
    args: {
      left: floats(...given),
      right: floats(...given.map((value) => (Object.is(value, -0) ? -0 : 0))),
      activation: 0,
    },
    output: infoOf("TENSOR_FLOAT32", [given.length]),
    expected: given,
  };
}

/** The 24 binary digits of float32 and its range, and the rounding of products in sums. */
export const digits: readonly ProbeCase[] = [
  sumWithZero(1 + 2 ** -23, 16_777_215, -16_777_213, 3.4e38, 2 ** -126, 1 / 3),
  productInSum(),
];

/** Numbers that are not finite. */
export const infinities: readonly ProbeCase[] = [sumWithZero(Infinity, -Infinity, Number.NaN)];

/** Numbers below 2^-126, and the sign of 0. */
export const tinyNumbers: readonly ProbeCase[] = [sumWithZero(1e-40, -(2 ** -149), -0)];

/** The square of 1 + 2^-12 less 1 + 2^-11 in a layer: 0 if the product is rounded, and 2^-24 if it is fused with the sum. */
function productInSum(): ProbeCase {
  const value = 1 + 2 ** -12;
  const four = (each: number) => Array.from({ length: UNITS }, () => each);
  return {
    name: "FULLY_CONNECTED",
    args: {
      input: { ...infoOf("TENSOR_FLOAT32", [1, 1]), elements: [value] },
      weights: constant({ ...infoOf("TENSOR_FLOAT32", [UNITS, 1]), elements: four(value) }),
      bias: constant({ ...infoOf("TENSOR_FLOAT32", [UNITS]), elements: four(-1 - 2 ** -11) }),
      activation: 0,
    },
    output: infoOf("TENSOR_FLOAT32", [1, UNITS]),
    expected: four(0),
    orElse: four(2 ** -24),
  };
}

function functionCase(name: OperationTypeName, points: readonly number[], compute: (x: number) => number): ProbeCase {
  const given = points.map(Math.fround);
  return {
    name,
    args: { input: floats(...given) },
    output: infoOf("TENSOR_FLOAT32", [given.length]),
    expected: given.map((x) => Math.fround(compute(x))),
    allowance: 1e-5,
  };
}

function powers(): ProbeCase {
  const [bases, exponents] = [
    [2, -2, 9, 0, 1.5],
    [3, 3, 0.5, 0, -40],
  ];
  const args: Readonly<Record<string, ProbeArgument>> = { base: floats(...bases), exponent: floats(...exponents) };
  const expected = bases.map((base, place) => base ** (exponents[place] ?? 0));
  return { name: "POW", args, output: infoOf("TENSOR_FLOAT32", [bases.length]), expected, allowance: 1e-5 };
}

/** Functions, each on arguments for which a simple form of it overflows or loses its digits. */
export const functions: readonly ProbeCase[] = [
  functionCase("TANH", [0, 1, -1, 0.001, 20, -100, 1e30], Math.tanh),
  functionCase("LOGISTIC", [0, 1, -1, 20, -20, 200, -1e30], (x) => 1 / (1 + Math.exp(-x))),
  functionCase("EXP", [0, 1, -1, 87, -80], Math.exp),
  functionCase("LOG", [1, 2, 1e30, 1e-30], Math.log),
  functionCase("SQRT", [0, 2, 1e30, 1e-30], Math.sqrt),
  functionCase("RSQRT", [2, 1e30, 1e-30], (x) => 1 / Math.sqrt(x)),
  functionCase("SIN", [0, 1, -1, 3, 30], Math.sin),
  functionCase("FLOOR", [-0.5, 1.5, 4_194_303.5, -1e10], Math.floor),
  powers(),
  {
    name: "SOFTMAX",
    args: {
      input: { ...infoOf("TENSOR_FLOAT32", [2, 3]), elements: [1000, 1000, -1000, -1e30, 0, 0] },
      beta: 1,
      axis: -1,
    },
    output: infoOf("TENSOR_FLOAT32", [2, 3]),
    expected: [0.5, 0.5, 0, 0, 0.5, 0.5],
    allowance: 1e-5,
  },
];

/** Functions in chains: each takes the result of the one before, so that an engine that fuses them proves all with one kernel. */
export interface FunctionChain {
  /** The functions that it proves. */
  readonly names: readonly OperationTypeName[];
  /** The first function, with the result of the last. */
  readonly first: ProbeCase;
  readonly following: readonly ProbeFollowing[];
}

/** A function of one element, or an operation with a second operand. */
type ChainStep =
  | readonly [name: OperationTypeName, compute: (x: number) => number]
  | readonly [name: "ADD" | "MUL" | "POW", compute: (x: number, second: number) => number, second: readonly number[]];

function chainOf(points: readonly number[], steps: readonly ChainStep[]): FunctionChain {
  const output = infoOf("TENSOR_FLOAT32", [points.length]);
  let expected = points.map(Math.fround);
  const operations = steps.map(([name, compute, second]): ProbeFollowing => {
    expected = expected.map((x, place) => Math.fround(compute(x, Math.fround(second?.[place] ?? 0))));
    if (second === undefined) return { name, args: {}, output, chained: "input" };
    const operand = floats(...second);
    return name === "POW"
      ? { name, args: { exponent: operand }, output, chained: "base" }
      : { name, args: { right: operand, activation: 0 }, output, chained: "left" };
  });
  const [first, ...following] = operations;
  if (first === undefined) throw new TypeError("a chain has a function");
  return {
    names: operations.map(({ name }) => name).filter((name) => functions.some((each) => each.name === name)),
    first: {
      name: first.name,
      args: { ...first.args, [first.chained]: floats(...points) },
      output,
      expected,
      allowance: 1e-5,
    },
    following,
  };
}

const sum = (x: number, second: number) => x + second;
const product = (x: number, second: number) => x * second;
const [ONE, NONE] = [1, 0];

/**
 * The functions on the arguments of `functions`. Between two of them a sum or a product makes the arguments of the next: a result that was
 * proven with 1 and 0 before is passed on.
 */
export const functionChains: readonly FunctionChain[] = [
  chainOf(
    [0, 1, -1, 0.001, 20, -100, 1e30, 20, 20, 20, 20, 0],
    [
      ["TANH", Math.tanh],
      ["MUL", product, [ONE, ONE, ONE, 1000, ONE, ONE, ONE, 20, -20, 200, -1e30, ONE]],
      ["LOGISTIC", (x: number) => 1 / (1 + Math.exp(-x))],
      ["MUL", product, [6, ONE, ONE, ONE, ONE, ONE, ONE, -1, 1e9, 30, ONE, 2]],
      ["SIN", Math.sin],
    ],
  ),
  chainOf(
    [-0.5, 1.5, 4_194_303.5, -1e10, 87.5, -79.5, 0.5, 69.1],
    [
      ["FLOOR", Math.floor],
      ["ADD", sum, [NONE, NONE, -4_194_302, 1e10, NONE, NONE, NONE, NONE]],
      ["EXP", Math.exp],
      ["LOG", Math.log],
    ],
  ),
  chainOf(
    [0, 2, 1e30, 1e-30, 2, 0, 4, 4, 4, 4],
    [
      ["SQRT", Math.sqrt],
      ["ADD", sum, [ONE, NONE, NONE, NONE, 1e30, 1e-30, NONE, NONE, 2, -1]],
      ["RSQRT", (x: number) => 1 / Math.sqrt(x)],
      ["MUL", product, [2, -2 * Math.SQRT2 ** 0.5, 1e7, 1e-7, 1e15, 1e-15, 0, 9 * Math.SQRT2, 4, 1.5]],
      ["POW", (x, second) => x ** second, [3, 3, -1, 1, ONE, ONE, 0, 0.5, ONE, -20]],
    ],
  ),
];
