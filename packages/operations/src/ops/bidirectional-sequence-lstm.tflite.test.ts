/**
 * BIDIRECTIONAL_SEQUENCE_LSTM: each direction is that of UNIDIRECTIONAL_SEQUENCE_LSTM, backwards on the reversed input.
 */
import { describe, expect, it } from "vitest";
import { bool, float32, type GivenInput, int32, omit, type Result, runOperation } from "./_run.tflite.test-helper.ts";

const TIMES = 3;
const BATCHES = 2;
const INPUTS = 3;
const UNITS = 2;
const FLOAT = "TENSOR_FLOAT32";
const TANH = 4;

/** Numbers within [-1, 1] in no order, others for every seed. */
const randoms = (count: number, seed: number) =>
  Array.from({ length: count }, (_, index) => Math.sin((index + 1) * 12.9898 + seed * 78.233));

const float = (dimensions: readonly number[], seed: number): GivenInput => {
  const count = dimensions.reduce((product, extent) => product * extent, 1);
  return { type: FLOAT, dimensions, data: Float32Array.from(randoms(count, seed)) };
};

type Weights = typeof FLOAT | "TENSOR_QUANT8_ASYMM_SIGNED" | "TENSOR_QUANT8_ASYMM";

/** Weights of a type; quantised ones are signed bytes in both types. */
function weightsOf(type: Weights, dimensions: readonly number[], seed: number): GivenInput {
  const plain = float(dimensions, seed);
  if (type === FLOAT) return plain;
  const bytes = Int8Array.from(numbers(plain), (value) => Math.round(value * 127));
  const data = type === "TENSOR_QUANT8_ASYMM" ? new Uint8Array(bytes.buffer) : bytes;
  return { type, dimensions, data, scale: 1 / 127 };
}

/** Elements as numbers. */
function numbers({ data }: Pick<GivenInput, "data">): number[] {
  return Array.from(data as Float32Array, Number);
}

/** The 17 operands of a cell with peepholes. */
function cell(type: Weights, seed: number): GivenInput[] {
  const some = (count: number, dimensions: readonly number[], from: number) =>
    Array.from({ length: count }, (_, index) => weightsOf(type, dimensions, seed + from + index));
  const biases = Array.from({ length: 4 }, (_, index) => float([UNITS], seed + 20 + index));
  return [
    ...some(4, [UNITS, INPUTS], 1),
    ...some(4, [UNITS, UNITS], 5),
    ...some(3, [UNITS], 9),
    ...biases,
    ...[omit(type), omit()],
  ];
}

const states = (seed: number) => [float([BATCHES, UNITS], seed), float([BATCHES, UNITS], seed + 1)];
const input = float([TIMES, BATCHES, INPUTS], 90);

/** A sequence from its last time to its first. */
function reverse({ data }: Pick<GivenInput, "data">): number[] {
  const values = numbers({ data });
  const size = values.length / TIMES;
  return [...Array(TIMES).keys()].toReversed().flatMap((time) => values.slice(time * size, (time + 1) * size));
}

const outputs = (count: number) => new Array(count).fill({ type: FLOAT });

/** One direction by the other operator. */
function oneWay(type: Weights, x: GivenInput, seed: number, asymmetric: boolean): Promise<Result[]> {
  const norms = [omit(), omit(), omit(), omit()];
  const options = [int32(TANH), float32(0), float32(0), bool(true), bool(asymmetric), bool(false)];
  return runOperation(
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    [x, ...cell(type, seed), ...states(seed + 50), ...norms, ...options],
    outputs(3),
  );
}

function twoWay(type: Weights, { merge = false, asymmetric = false, changes = {} as Record<number, GivenInput> } = {}) {
  const auxiliary = [omit(), ...new Array<GivenInput>(8).fill(omit(type))];
  const options = [int32(TANH), float32(0), float32(0), bool(merge), bool(true), bool(asymmetric)];
  const operands = [
    ...[input, ...cell(type, 100), ...cell(type, 200), ...states(150), ...states(250)],
    ...[...auxiliary, ...options],
  ];
  for (const [place, change] of Object.entries(changes)) operands[Number(place)] = change;
  return (count: number) => runOperation("BIDIRECTIONAL_SEQUENCE_LSTM", operands, outputs(count));
}

describe("BIDIRECTIONAL_SEQUENCE_LSTM", () => {
  it.each([
    [FLOAT, false],
    ["TENSOR_QUANT8_ASYMM_SIGNED", false],
    ["TENSOR_QUANT8_ASYMM_SIGNED", true],
    ["TENSOR_QUANT8_ASYMM", false],
  ] as const)("with weights of %s (asymmetric: %s) is two sequences", async (type, asymmetric) => {
    const [forward, ...forwardStates] = await oneWay(type, input, 100, asymmetric);
    const turned = { ...input, data: Float32Array.from(reverse(input)) };
    const [backward, ...backwardStates] = await oneWay(type, turned, 200, asymmetric);
    const results = await twoWay(type, { asymmetric })(6);
    expect(results).toEqual([
      forward,
      { ...backward, data: Float32Array.from(reverse(backward)) },
      ...forwardStates,
      ...backwardStates,
    ]);
    const [merged, ...mergedStates] = await twoWay(type, { asymmetric, merge: true })(5);
    expect(mergedStates).toEqual(results.slice(2));
    expect(merged.dimensions).toEqual([TIMES, BATCHES, 2 * UNITS]);
    expect(numbers(merged).slice(0, UNITS)).toEqual(numbers(forward).slice(0, UNITS));
    expect(Number(merged.data[UNITS])).toBe(Number(results[1]?.data[0]));
  });

  it("quantises its inputs if the weights have 8 bits", async () => {
    const [plain] = await twoWay(FLOAT)(6);
    const [hybrid] = await twoWay("TENSOR_QUANT8_ASYMM_SIGNED")(6);
    const differences = numbers(plain).map((value, index) => Math.abs(value - Number(hybrid.data[index])));
    expect(Math.max(...differences)).toBeLessThan(0.03);
    expect(Math.max(...differences)).toBeGreaterThan(1e-5);
  });

  it("refuses another number of outputs, and states of another shape", async () => {
    await expect(twoWay(FLOAT, { merge: true })(6)).rejects.toThrow("mergeOutputs is true, but there is an output");
    await expect(twoWay(FLOAT)(5)).rejects.toThrow("mergeOutputs is false, but the backward output is missing");
    await expect(twoWay(FLOAT, { changes: { 38: float([BATCHES, 3], 1) } })(6)).rejects.toThrow(
      "the backward cell states",
    );
    await expect(twoWay(FLOAT, { changes: { 48: int32(2) } })(6)).rejects.toThrow("activation 2 is none of NONE 0");
  });
});
