import { describe, expect, it } from "vitest";
import { bool, type GivenInput, int32, omit, type Result, runOperation } from "./_run.tflite.test-helper.ts";

const float = (dimensions: number[], values: number[]): GivenInput => ({
  type: "TENSOR_FLOAT32",
  dimensions,
  data: Float32Array.from(values),
});
const int8 = (dimensions: number[], values: number[], scale: number): GivenInput => ({
  type: "TENSOR_QUANT8_ASYMM_SIGNED",
  dimensions,
  data: Int8Array.from(values),
  scale,
});
const outputs = [{ type: "TENSOR_FLOAT32" }, { type: "TENSOR_FLOAT32" }] as const;

// One unit: 0.5 * x0 + 2 * x1 - 0.5 * h + 0.1.
const cell = [int8([1, 2], [1, 4], 0.5), int8([1, 1], [-2], 0.25), float([1], [0.1])];
const floatCell = [float([1, 2], [0.5, 2]), float([1, 1], [-0.5]), float([1], [0.1])];

/** 0.31 and 1, quantised around 0 or with a zero point. */
const third = (asymmetric: boolean) => (asymmetric ? 79 / 255 : 39 / 127);

const reals = ({ data }: Result) => Array.from(data as Float32Array);

describe("RNN", () => {
  const run = (weights: readonly GivenInput[], activation: number, asymmetric = false) =>
    runOperation(
      "RNN",
      [float([2, 2], [1, 0.31, 0, 0]), ...weights, float([2, 1], [0.8, -2]), int32(activation), bool(asymmetric)],
      outputs,
    );

  it.each([false, true])("quantises inputs and state, each row by itself; asymmetric: %s", async (asymmetric) => {
    const [output, state] = await run(cell, 0, asymmetric);
    expect(output.dimensions).toEqual([2, 1]);
    expect(state).toEqual(output);
    expect(reals(output)[0]).toBeCloseTo(0.5 + 2 * third(asymmetric) - 0.4 + 0.1, 6);
    expect(reals(output)[1]).toBeCloseTo(1.1, 6);
  });

  it("has the activations RELU and TANH", async () => {
    const sums = [0.5 + 0.62 - 0.4 + 0.1, 1.1];
    expect(reals((await run(floatCell, 3))[0])[0]).toBeCloseTo(sums[0], 6);
    const [output] = await run(floatCell, 4);
    for (const [row, sum] of sums.entries()) expect(reals(output)[row]).toBeCloseTo(Math.tanh(sum), 6);
    await expect(run(floatCell, 5)).rejects.toThrow("activation 5 is none of NONE 0");
  });

  it("refuses weights and states of another size", async () => {
    const breakIt = (place: number, input: GivenInput) => {
      const inputs = [float([2, 2], [1, 0.31, 0, 0]), ...floatCell, float([2, 1], [0, 0]), int32(0), bool(false)];
      inputs[place] = input;
      return runOperation("RNN", inputs, outputs);
    };
    await expect(breakIt(1, float([1, 3], [1, 2, 3]))).rejects.toThrow(
      "the shape of the weights: expected 1x2, got 1x3",
    );
    await expect(breakIt(2, float([1, 2], [1, 2]))).rejects.toThrow(
      "the shape of the recurrent weights: expected 1x1, got 1x2",
    );
    await expect(breakIt(3, float([2], [1, 2]))).rejects.toThrow("the shape of the bias: expected 1, got 2");
    await expect(breakIt(4, float([1, 1], [1]))).rejects.toThrow(
      "the shape of the hidden states: expected 2x1, got 1x1",
    );
  });
});

describe("UNIDIRECTIONAL_SEQUENCE_RNN", () => {
  it.each([true, false])("runs along time; timeMajor: %s", async (timeMajor) => {
    const batches = [
      [1, 0.31, 0.5, -1],
      [0, 0, 1, 1],
    ];
    const [a, b] = batches;
    const ordered = timeMajor ? [...a.slice(0, 2), ...b.slice(0, 2), ...a.slice(2), ...b.slice(2)] : [...a, ...b];
    const inputs = [float([2, 2, 2], ordered), ...floatCell, float([2, 1], [0.8, -2]), bool(timeMajor)];
    const [output, state] = await runOperation(
      "UNIDIRECTIONAL_SEQUENCE_RNN",
      [...inputs, int32(4), bool(false)],
      outputs,
    );
    const wanted = batches.map(([x0, x1, x2, x3], batch) => {
      const first = Math.tanh(0.5 * x0 + 2 * x1 - 0.5 * [0.8, -2][batch] + 0.1);
      return [first, Math.tanh(0.5 * x2 + 2 * x3 - 0.5 * first + 0.1)];
    });
    const flat = timeMajor ? [wanted[0][0], wanted[1][0], wanted[0][1], wanted[1][1]] : wanted.flat();
    expect(output.dimensions).toEqual([2, 2, 1]);
    for (const [at, value] of flat.entries()) expect(reals(output)[at]).toBeCloseTo(value, 6);
    for (const [batch, [, last]] of wanted.entries()) expect(reals(state)[batch]).toBeCloseTo(last, 6);
  });

  it("quantises each step", async () => {
    const step = [...cell, float([1, 1], [0.8])];
    const inputs = [float([1, 2, 2], [1, 0.31, 0, 0]), ...step, bool(false), int32(0), bool(true)];
    const [output] = await runOperation("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, outputs);
    const first = 0.5 + 2 * third(true) - 0.4 + 0.1;
    expect(reals(output)[0]).toBeCloseTo(first, 6);
    expect(reals(output)[1]).toBeCloseTo(-0.5 * first + 0.1, 6);
  });
});

describe("BIDIRECTIONAL_SEQUENCE_RNN", () => {
  const INT8 = "TENSOR_QUANT8_ASYMM_SIGNED";
  const input = float([1, 2, 2], [1, 0.31, 0.5, -1]);
  const backwards = float([1, 2, 2], [0.5, -1, 1, 0.31]);
  const state = float([1, 1], [0.8]);
  const three = [...outputs, outputs[0]];
  const run = (merge: boolean, auxiliary: readonly GivenInput[], declared: readonly { type: "TENSOR_FLOAT32" }[]) =>
    runOperation(
      "BIDIRECTIONAL_SEQUENCE_RNN",
      [...[input, ...cell, state, ...cell, state, ...auxiliary], ...[bool(false), int32(4), bool(merge), bool(true)]],
      declared,
    );
  const none = [omit(), omit(INT8), omit(INT8)];

  it("runs one cell forwards and one backwards, with outputs apart or merged", async () => {
    const sequence = async (of: GivenInput) =>
      runOperation("UNIDIRECTIONAL_SEQUENCE_RNN", [of, ...cell, state, bool(false), int32(4), bool(true)], outputs);
    const [forward, forwardState] = await sequence(input);
    const [backward, backwardState] = await sequence(backwards);
    const turned = { ...backward, data: backward.data.slice().reverse() };
    const apart = await run(false, none, [...three, outputs[0]]);
    expect(apart).toEqual([forward, turned, forwardState, backwardState]);
    const [merged, ...mergedStates] = await run(true, none, three);
    const [f, b] = [reals(forward), reals(turned)];
    expect(merged).toEqual({ dimensions: [1, 2, 2], data: Float32Array.of(f[0], b[0], f[1], b[1]) });
    expect(mergedStates).toEqual([forwardState, backwardState]);
  });

  it("reads an auxiliary input", async () => {
    const auxiliary = float([1, 2, 1], [1, -1]);
    const weights = int8([1, 1], [3], 0.5);
    const [linked] = await run(false, [auxiliary, weights, weights], [...three, outputs[0]]);
    expect(reals(linked)[0]).toBeCloseTo(Math.tanh(0.5 + 2 * third(true) + 1.5 - 0.4 + 0.1), 6);
    await expect(run(false, [omit(), weights, weights], [...three, outputs[0]])).rejects.toThrow(
      "auxiliary weights must be given for both directions, and only with an auxiliary input",
    );
  });

  it("refuses outputs that do not fit mergeOutputs", async () => {
    await expect(run(true, none, [...three, outputs[0]])).rejects.toThrow(
      "mergeOutputs is true, but there is an output",
    );
    await expect(run(false, none, three)).rejects.toThrow("mergeOutputs is false, but the backward output is missing");
  });
});
