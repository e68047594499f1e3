/**
 * Operators other than products of bytes, on inputs that break what is not exact enough: sums of floats whose products cancel out, are
 * infinite, NaN or made of denormal numbers; functions of floats at the ends of their range; bytes at their limits.
 */
import { addWholeNumber, type Builder, real, type Value } from "../graph/builder.ts";
import type { AddTrial, Trial } from "./trial.ts";

/** The terms of each sum: kernels add 16 at once, and what remains. */
const terms = 18;
/** The outputs: weights of 1, of nearly 1 with alternating signs, and ones that make denormal numbers visible. */
const outputs = 16;

function weightOf(output: number, term: number): number {
  if (output % 3 === 0) return 1;
  return output % 3 === 1 ? (term % 2 === 0 ? 1 : -1) * (1 + 2 ** -12) : 2 ** 120;
}

/** By row: products that cancel out, a sum of denormal numbers, an infinity, a NaN. */
const rows = 4;
function inputOf(row: number, term: number): number {
  if (row === 0) return term % 2 === 0 ? 1 + 2 ** -12 : 1 + 2 ** -11;
  if (row === 1) return 2 ** -140;
  return term === 5 ? (row === 2 ? Number.POSITIVE_INFINITY : Number.NaN) : 1;
}

const inputs = Float32Array.from({ length: rows * terms }, (_, at) => inputOf(Math.floor(at / terms), at % terms));
const weights = Float32Array.from({ length: outputs * terms }, (_, at) => weightOf(Math.floor(at / terms), at % terms));

function transpose(from: Float32Array, columns: number): Float32Array {
  const length = from.length / columns;
  return from.map((_, at) => from[(at % length) * columns + Math.floor(at / length)] ?? 0);
}

/** Rows of sums, and how far each may be off: float32 rounds each product and each sum. */
function sums(): { readonly expected: Float32Array; readonly allowed: Float32Array } {
  const expected = new Float32Array(rows * outputs);
  const allowed = new Float32Array(rows * outputs);
  for (let place = 0; place < expected.length; place++) {
    const [row, output] = [Math.floor(place / outputs), place % outputs];
    let sum = 0;
    let size = 0;
    for (let term = 0; term < terms; term++) {
      const product = (inputs[row * terms + term] ?? 0) * (weights[output * terms + term] ?? 0);
      sum += product;
      size += Math.abs(product);
    }
    expected[place] = sum;
    allowed[place] = Number.isFinite(size) ? size * 2 ** -20 : 0;
  }
  return { expected, allowed };
}

function sumTrial(
  subject: string,
  add: (builder: Builder) => Pick<Trial, "result" | "feeds">,
  isNchw: boolean,
): AddTrial {
  return (builder) => {
    const { expected, allowed } = sums();
    const inOrder = (from: Float32Array) => (isNchw ? transpose(from, outputs) : from);
    const bounds = inOrder(allowed);
    const numbers = Array.from(inOrder(expected));
    return {
      form: "float sums",
      subject,
      ...add(builder),
      expected: numbers,
      findAllowed: (place) => bounds[place] ?? 0,
    };
  };
}

const imageOf = (builder: Builder): Value => builder.input({ type: "float32", dims: [1, terms, 2, 2] });
const convolution = sumTrial(
  "Conv",
  (builder) => {
    const image = imageOf(builder);
    const filter = builder.constant("float32", [outputs, terms, 1, 1], () => weights);
    const bias = builder.constant("float32", [outputs], () => new Float32Array(outputs));
    const attributes = { kernel_shape: { ints: [1, 1] } };
    const result = builder.node(
      "Conv",
      [image, filter, bias],
      { type: "float32", dims: [1, outputs, 2, 2] },
      { attributes },
    );
    return { result, feeds: [[image, transpose(inputs, terms)]] };
  },
  true,
);
const product = sumTrial(
  "Gemm",
  (builder) => {
    const left = builder.input({ type: "float32", dims: [rows, terms] });
    const right = builder.constant("float32", [outputs, terms], () => weights);
    const bias = builder.constant("float32", [outputs], () => new Float32Array(outputs));
    const attributes = { transB: { int: 1 } };
    const result = builder.node(
      "Gemm",
      [left, right, bias],
      { type: "float32", dims: [rows, outputs] },
      { attributes },
    );
    return { result, feeds: [[left, inputs]] };
  },
  false,
);

/** Numbers at the ends of functions, more than a vector has. */
const ends = [0, -0, 1, -1, 2 ** -140, -(2 ** -140), 80, -80, 100, -100, 1e30, -1e30];
const special = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
const numbers = Float32Array.from([...ends, ...special, ...ends, ...special, ...ends]);

function functionTrial(operator: string, compute: (x: number) => number, isDefined = (_: number) => true): AddTrial {
  const from = numbers.filter(isDefined);
  return (builder) => {
    const input = builder.input({ type: "float32", dims: [from.length] });
    const bounds = operator === "Clip" ? [real(builder, -1), real(builder, 1)] : [];
    const result = builder.node(operator, [input, ...bounds], input);
    const expected = Array.from(Float32Array.from(from, compute));
    const allowed = (place: number) => Math.max(1e-6, Math.abs(expected[place] ?? 0) * 1e-5);
    return {
      form: "float functions",
      subject: operator,
      result,
      feeds: [[input, from]],
      expected,
      findAllowed: allowed,
    };
  };
}

const functions: readonly AddTrial[] = [
  functionTrial("Sigmoid", (x) => 1 / (1 + Math.exp(-x))),
  functionTrial("Tanh", Math.tanh),
  functionTrial("Exp", Math.exp),
  functionTrial("Log", Math.log, (x) => x > 0),
  functionTrial("Sqrt", Math.sqrt, (x) => !(x < 0)),
  functionTrial("Elu", (x) => (x > 0 ? x : Math.expm1(x))),
  functionTrial("Relu", (x) => Math.max(0, x)),
  functionTrial("Clip", (x) => Math.min(1, Math.max(-1, x))),
];

/** Pairs of bytes at and next to their limits, more than a vector has. */
const limits = [0, 255, 1, 254, 127, 128];
const count = 37;
const left = Uint8Array.from({ length: count }, (_, at) => limits[at % limits.length] ?? 0);
const right = Uint8Array.from(
  { length: count },
  (_, at) => limits[Math.floor(at / limits.length) % limits.length] ?? 0,
);
const microsoft = { domain: "com.microsoft" } as const;

/** The scale and the zero point of a value. */
interface Quantisation {
  readonly scale: number;
  readonly zeroPoint: number;
}
const [first, second, third]: readonly [Quantisation, Quantisation, Quantisation] = [
  { scale: 0.5, zeroPoint: 255 },
  { scale: 0.25, zeroPoint: 0 },
  { scale: 1, zeroPoint: 128 },
];

/** A trial on bytes. `compute` is the result in real numbers. */
function byteTrial(
  operator: string,
  add: (builder: Builder, x: Value, y: Value) => Value,
  to: Quantisation,
  compute: (x: number, y: number) => number,
): AddTrial {
  return (builder) => {
    const [x, y] = [left, right].map((elements) => {
      const value = builder.input({ type: "uint8", dims: [1, 1, 1, count] });
      return [value, elements] as const;
    });
    if (x === undefined || y === undefined) throw new Error("there are two inputs");
    const realOf = ({ scale, zeroPoint }: Quantisation, byte = 0) => scale * (byte - zeroPoint);
    const expected = Array.from(left, (byte, at) => {
      const result = compute(realOf(first, byte), realOf(second, right[at]));
      return Math.min(255, Math.max(0, Math.round(result / to.scale + to.zeroPoint)));
    });
    const result = add(builder, x[0], y[0]);
    return { form: "8-bit arithmetic", subject: operator, result, feeds: [x, y], expected, findAllowed: () => 1 };
  };
}

function facts(builder: Builder, { scale, zeroPoint }: Quantisation): readonly [Value, Value] {
  return [real(builder, scale), addWholeNumber(builder, "uint8", zeroPoint)];
}

const binary = (operator: string) => (builder: Builder, x: Value, y: Value) =>
  builder.node(
    operator,
    [x, ...facts(builder, first), y, ...facts(builder, second), ...facts(builder, third)],
    x,
    microsoft,
  );
const unary =
  (operator: string, to: Quantisation, attributes = {}) =>
  (builder: Builder, x: Value) =>
    builder.node(operator, [x, ...facts(builder, first), ...facts(builder, to)], x, { ...microsoft, attributes });

const probability: Quantisation = { scale: 1 / 256, zeroPoint: 0 };
const pool = { kernel_shape: { ints: [1, 1] }, channels_last: { int: 1 } };
const arithmetic: readonly AddTrial[] = [
  byteTrial("QLinearAdd", binary("QLinearAdd"), third, (x, y) => x + y),
  byteTrial("QLinearMul", binary("QLinearMul"), third, (x, y) => x * y),
  byteTrial("QLinearSigmoid", unary("QLinearSigmoid", probability), probability, (x) => 1 / (1 + Math.exp(-x))),
  byteTrial("QLinearAveragePool", unary("QLinearAveragePool", first, pool), first, (x) => x),
  byteTrial("QuantizeLinear", quantise, third, (x) => x),
];

/** Bytes as real numbers and back. */
function quantise(builder: Builder, x: Value): Value {
  const reals = builder.node("DequantizeLinear", [x, ...facts(builder, first)], { type: "float32", dims: x.dims });
  return builder.node("QuantizeLinear", [reals, ...facts(builder, third)], x);
}

/** All trials. */
export const operatorTrials: readonly AddTrial[] = [convolution, product, ...functions, ...arithmetic];
