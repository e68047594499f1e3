import { describe, expect, it } from "vitest";
import type { AnyOperandType } from "../operand-type.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { bool, float32, type GivenInput, int32, omit, type Result, runOperation } from "./_run.tflite.test-helper.ts";

const UNITS = 3;
const INPUTS = 2;
const OUTPUTS = 2;
const TIMES = 4;
const BATCHES = 2;

/** Changes of a test to a cell. Default: a full cell, with peepholes, normalisation and projection. */
interface Variant {
  readonly isCoupled?: boolean;
  readonly hasPeepholes?: boolean;
  readonly hasProjection?: boolean;
  readonly hasNorm?: boolean;
  readonly timeMajor?: boolean;
  readonly cellClip?: number;
  /** The quantisation of the hidden state. Default: as a cell with a projection requires it, else none. */
  readonly hidden?: { readonly scale: number; readonly zeroPoint: number };
}

/** Types of a cell, and the scales of its integers. */
interface Kind {
  readonly activation: AnyOperandType;
  readonly weights: AnyOperandType;
  readonly peephole: AnyOperandType;
  readonly bias: AnyOperandType;
  readonly memory: AnyOperandType;
  /** Scale and zero point of input, output and output state. */
  readonly scale: number;
  readonly zeroPoint: number;
}

const FLOAT = "TENSOR_FLOAT32";
const floatKind: Kind = {
  activation: FLOAT,
  weights: FLOAT,
  peephole: FLOAT,
  bias: FLOAT,
  memory: FLOAT,
  scale: 0,
  zeroPoint: 0,
};
const INT8 = "TENSOR_QUANT8_ASYMM_SIGNED";
const hybridKind: Kind = { ...floatKind, weights: INT8, peephole: INT8 };
const INT16 = "TENSOR_QUANT16_SYMM";
const byteKind: Kind = {
  activation: INT8,
  weights: INT8,
  peephole: INT16,
  bias: "TENSOR_INT32",
  memory: INT16,
  scale: 1 / 128,
  zeroPoint: -3,
};
const wordKind: Kind = {
  ...byteKind,
  activation: INT16,
  bias: tfliteTypes.TENSOR_INT64,
  scale: 2 ** -15,
  zeroPoint: 0,
};

/** Numbers within [-1, 1] that only depend on the seed. */
function randoms(count: number, seed: number): number[] {
  let state = seed * 2654435761;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}

/** A tensor of a type that holds real numbers as well as it can. */
function give(
  type: AnyOperandType,
  dimensions: number[],
  reals: readonly number[],
  scale: number,
  zeroPoint = 0,
): GivenInput {
  const steps = reals.map((real) => Math.round(real / scale) + zeroPoint);
  if (type === FLOAT) return { type, dimensions, data: Float32Array.from(reals) };
  if (type === INT8) return { type, dimensions, data: Int8Array.from(steps), scale, zeroPoint };
  if (type === INT16) return { type, dimensions, data: Int16Array.from(steps), scale };
  if (type === "TENSOR_INT32") return { type, dimensions, data: Int32Array.from(steps) };
  return { type, dimensions, data: BigInt64Array.from(steps, BigInt) };
}

const memoryScale = 2 ** -12;
const weightScale = 1 / 127;
const peepholeScale = 2 ** -15;
const intermediateScale = 2 ** -12;
const hiddenScale = 1 / 128;

/** Weights are multiples of 1 / 127, so that all kinds compute with the same numbers. */
function onGrid(reals: readonly number[]): number[] {
  return reals.map((real) => Math.round(real * 127) / 127);
}

/** The 24 tensors of a cell in a kind. */
function tensorsOf(kind: Kind, variant: Variant): GivenInput[] {
  const { isCoupled = false, hasPeepholes = true, hasProjection = true, hasNorm = true, timeMajor = true } = variant;
  const outputs = hasProjection ? OUTPUTS : UNITS;
  const weights = (present: boolean, rows: number, columns: number, seed: number) =>
    present
      ? give(kind.weights, [rows, columns], onGrid(randoms(rows * columns, seed)), weightScale)
      : omit(kind.weights);
  const vector = (present: boolean, type: AnyOperandType, seed: number, scale: number, shift = 0) =>
    present
      ? give(
          type,
          [UNITS],
          onGrid(randoms(UNITS, seed)).map((real) => real + shift),
          scale,
        )
      : omit(type);
  const peepholeUnit = kind.peephole === INT16 ? peepholeScale : weightScale;
  const biasUnit = hasNorm ? peepholeScale / 1024 : weightScale * (kind.scale || 1);
  const gates = [!isCoupled, true, true, true];
  const { activation, scale, zeroPoint } = kind;
  const values = onGrid(randoms(TIMES * BATCHES * INPUTS, 1)).map((real) => real * 0.9);
  const state = onGrid(randoms(BATCHES * outputs, 2)).map((real) => real * 0.9);
  return [
    give(activation, timeMajor ? [TIMES, BATCHES, INPUTS] : [BATCHES, TIMES, INPUTS], values, scale, zeroPoint),
    ...gates.map((present, gate) => weights(present, UNITS, INPUTS, 10 + gate)),
    ...gates.map((present, gate) => weights(present, UNITS, outputs, 20 + gate)),
    ...[!isCoupled, true, true].map((present, gate) =>
      vector(present && hasPeepholes, kind.peephole, 30 + gate, peepholeUnit),
    ),
    ...gates.map((present, gate) => vector(present, kind.bias, 40 + gate, biasUnit)),
    weights(hasProjection, OUTPUTS, UNITS, 50),
    hasProjection ? give(kind.bias, [OUTPUTS], [0.25, -0.125], weightScale * hiddenScale) : omit(kind.bias),
    give(activation, [BATCHES, outputs], state, scale, zeroPoint),
    give(kind.memory, [BATCHES, UNITS], onGrid(randoms(BATCHES * UNITS, 3)), memoryScale),
    ...gates.map((present, gate) => vector(present && hasNorm, kind.memory, 60 + gate, peepholeScale, 0)),
  ];
}

function optionsOf({ timeMajor = true, cellClip = 0, hasProjection, hidden }: Variant): GivenInput[] {
  const scales = new Array(4).fill(float32(intermediateScale));
  const { scale, zeroPoint } = hidden ?? { scale: hasProjection === false ? 0 : hiddenScale, zeroPoint: 0 };
  const intermediates = [...scales, int32(zeroPoint), float32(scale)];
  return [int32(4), float32(cellClip), float32(0), bool(timeMajor), bool(false), bool(false), ...intermediates];
}

const outputsOf = ({ activation, memory, scale, zeroPoint }: Kind) => [
  { type: activation, scale, zeroPoint },
  { type: activation, scale, zeroPoint },
  { type: memory, scale: memory === FLOAT ? 0 : memoryScale },
];

function run(kind: Kind, variant: Variant): Promise<Result[]> {
  const inputs = [...tensorsOf(kind, variant), ...optionsOf(variant)];
  return runOperation("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputsOf(kind));
}

const realsOf = ({ data }: Result, scale: number, zeroPoint = 0) =>
  Array.from(data as Float32Array, (element) => (element - zeroPoint) * (scale || 1));

/** The greatest difference from the float cell. */
async function difference(kind: Kind, variant: Variant): Promise<number> {
  const [wanted, wantedState] = await run(floatKind, variant);
  const [output, state, memory] = await run(kind, variant);
  expect(output.dimensions).toEqual(wanted.dimensions);
  expect(state.dimensions).toEqual(wantedState.dimensions);
  expect(memory.dimensions).toEqual([BATCHES, UNITS]);
  const reals = realsOf(output, kind.scale, kind.zeroPoint);
  const differences = realsOf(wanted, 0).map((real, index) => Math.abs(real - reals[index]));
  // The state is the last result.
  const [batches, size] = state.dimensions;
  const last = variant.timeMajor === false ? undefined : output.data.slice(-batches * size);
  if (last) expect(state.data).toEqual(last);
  return Math.max(...differences);
}

const variants: readonly (readonly [string, Variant])[] = [
  ["a full cell", {}],
  ["a plain cell", { hasPeepholes: false, hasNorm: false, hasProjection: false }],
  ["coupled gates", { isCoupled: true }],
  ["coupled gates without normalisation", { isCoupled: true, hasNorm: false }],
  ["no projection", { hasProjection: false }],
  ["a clip, batches first", { cellClip: 0.25, timeMajor: false }],
];

describe("UNIDIRECTIONAL_SEQUENCE_LSTM", () => {
  it.each(variants)("in integers of 8 bits: %s", async (_, variant) => {
    expect(await difference(byteKind, variant)).toBeLessThan(3 / 128);
  });

  it.each(variants)("in integers of 16 bits: %s", async (_, variant) => {
    const isCoarse = variant.hasProjection !== false;
    // The result before a projection has a separate scale, here 1 / 128.
    expect(await difference(wordKind, variant)).toBeLessThan(isCoarse ? 3 / 128 : 0.003);
  });

  it.each(variants)("hybrid: %s", async (_, variant) => {
    const worst = await difference(hybridKind, variant);
    expect(worst).toBeLessThan(0.04);
    // Inputs are quantised, so that some difference must be.
    expect(worst).toBeGreaterThan(0);
  });

  it("in integers of 8 bits: elements of the hidden state, less its zero point, are the result of a cell without projection", async () => {
    const plain = { hasPeepholes: false, hasNorm: false, hasProjection: false };
    const { scale, zeroPoint } = byteKind;
    const [own] = await run(byteKind, plain);
    const [given] = await run(byteKind, { ...plain, hidden: { scale, zeroPoint: -zeroPoint } });
    expect(given).toEqual(own);
    const [shifted] = await run(byteKind, { ...plain, hidden: { scale, zeroPoint: 0 } });
    expect(shifted.data[0]).toBe(Number(own.data[0]) - zeroPoint);
  });

  it("hybrid: one step by the formula", async () => {
    // Input 0.3 of a range of 1 is 38.1 of 127 steps.
    const one = (value: number) => give(INT8, [1, 1], [value], 0.5);
    const none = omit(INT8);
    const inputs = [
      give(FLOAT, [1, 1, 2], [1, 0.3], 0),
      ...[none, ...[1, 2, 3].map((value) => give(INT8, [1, 2], [0, value], 0.5))],
      ...[none, one(0), one(0), one(0)],
      ...[none, none, none],
      ...[omit(), ...[0, 0, 0].map((value) => give(FLOAT, [1], [value], 0))],
      ...[none, omit()],
      ...[give(FLOAT, [1, 1], [0.5], 0), give(FLOAT, [1, 1], [2], 0)],
      ...[omit(), omit(), omit(), omit()],
      ...[int32(4), float32(0), float32(0), bool(true), bool(false), bool(false)],
    ];
    const [output, , memory] = await runOperation("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputsOf(hybridKind));
    const x = 38 / 127;
    const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));
    const forget = sigmoid(x);
    const cell = forget * 2 + (1 - forget) * Math.tanh(2 * x);
    expect(memory.data[0]).toBeCloseTo(cell, 6);
    expect(output.data[0]).toBeCloseTo(sigmoid(3 * x) * Math.tanh(cell), 6);
  });

  it("has recurrent weights that are a diagonal", async () => {
    const variant = { hasPeepholes: false, hasProjection: false, hasNorm: false };
    const dense = tensorsOf(floatKind, variant);
    const diagonal = tensorsOf(floatKind, variant);
    for (const place of [5, 6, 7, 8]) {
      const values = randoms(UNITS, place);
      diagonal[place] = give(FLOAT, [UNITS], values, 0);
      const matrix = Array.from({ length: UNITS ** 2 }, (_, at) => (at % (UNITS + 1) === 0 ? values[at % UNITS] : 0));
      dense[place] = give(FLOAT, [UNITS, UNITS], matrix, 0);
    }
    const options = optionsOf(variant);
    const name = "UNIDIRECTIONAL_SEQUENCE_LSTM";
    const wanted = await runOperation(name, [...dense, ...options], outputsOf(floatKind));
    options[5] = bool(true);
    expect(await runOperation(name, [...diagonal, ...options], outputsOf(floatKind))).toEqual(wanted);
  });

  it("refuses states of another size, an incomplete gate, and scales of 0 that a cell requires", async () => {
    const breakIt = (place: number, input: GivenInput, kind = byteKind) => {
      const inputs = [...tensorsOf(kind, {}), ...optionsOf({})];
      inputs[place] = input;
      return runOperation("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputsOf(kind));
    };
    const { scale, zeroPoint } = byteKind;
    await expect(breakIt(18, give(INT8, [1, OUTPUTS], [0, 0], scale, zeroPoint))).rejects.toThrow(
      "the output state: expected 4 elements, got 2",
    );
    await expect(breakIt(19, give(INT16, [1, UNITS], [0, 0, 0], memoryScale))).rejects.toThrow(
      "the cell state: expected 6 elements, got 3",
    );
    await expect(breakIt(5, omit(INT8))).rejects.toThrow("expected all or none of the 3 input gate operands, got 2");
    await expect(breakIt(31, float32(0))).rejects.toThrow("forgetIntermediateScale: expected a number > 0, got 0");
    await expect(breakIt(35, float32(0))).rejects.toThrow("hiddenStateScale: expected a number > 0, got 0");
    await expect(breakIt(29, bool(true))).rejects.toThrow(
      "diagonalRecurrentTensors is true, but the cell is an integer",
    );
    await expect(breakIt(24, int32(2))).rejects.toThrow("activation 2 is none of NONE 0");
  });
});

describe("LSTM", () => {
  it.each([
    ["float", floatKind],
    ["hybrid", hybridKind],
    ["8 bits", byteKind],
    ["16 bits", wordKind],
  ] as const)("is the first step of a sequence: %s", async (_, kind) => {
    const tensors = tensorsOf(kind, {});
    const [activation, clip, projClip, , asymmetric, , ...intermediates] = optionsOf({});
    const step = { ...tensors[0], dimensions: [BATCHES, INPUTS], data: tensors[0].data.slice(0, BATCHES * INPUTS) };
    const options = [activation, clip, projClip, asymmetric, ...intermediates];
    const [output, state, memory] = await runOperation(
      "LSTM",
      [step, ...tensors.slice(1), ...options],
      outputsOf(kind),
    );
    const sequence = { ...step, dimensions: [1, BATCHES, INPUTS] };
    const [wanted, ...wantedStates] = await runOperation(
      "UNIDIRECTIONAL_SEQUENCE_LSTM",
      [sequence, ...tensors.slice(1), ...optionsOf({})],
      outputsOf(kind),
    );
    expect(output).toEqual({ dimensions: [BATCHES, OUTPUTS], data: wanted.data });
    expect([state, memory]).toEqual(wantedStates);
  });
});
