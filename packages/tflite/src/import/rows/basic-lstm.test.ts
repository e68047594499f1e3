import { describe, expect, test } from "vitest";
import {
  changeModel,
  execute,
  expectValid,
  oneOperator,
  problemOf,
  type TensorGiven,
} from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));
/** Gates in the order input, cell, forget, output; each has a weight for the value and one for the last result. */
const rows = [
  [0.5, -0.25],
  [1, 0.5],
  [-0.5, 0.75],
  [0.25, 1],
] as const;
const biases = [0.125, -0.25, 0.5, 0] as const;

/** Result and state. */
function step(value: number, last: number, state: number): [number, number] {
  const [input = 0, cell = 0, forget = 0, output = 0] = rows.map(
    ([own, recurrent], gate) => value * own + last * recurrent + (biases[gate] ?? 0),
  );
  const next = sigmoid(input) * Math.tanh(cell) + sigmoid(forget) * state;
  return [sigmoid(output) * Math.tanh(next), next];
}

const f = { type: "FLOAT32", shape: [1, 1] } as const;
const weights = { type: "FLOAT32", shape: [4, 2], data: rows.flat() } as const;
const bias = { type: "FLOAT32", shape: [4], data: [...biases] } as const;
const basic = (tensors: Readonly<Record<string, TensorGiven>>, outputs: Readonly<Record<string, TensorGiven>>) =>
  oneOperator("LSTM", tensors, outputs, { fusedActivationFunction: "TANH", kernelType: "BASIC" });

describe("LSTM with the basic kernel", () => {
  test("in floats, from a state that is an input", async () => {
    const model = basic({ x: f, last: f, weights, bias, state: f }, { y: f, next: f });
    const imported = importTflite(model, { extensions: false });
    expectValid(imported);
    const results = (await execute(imported, [[0.75], [0.5], [-1.5]])).flat();
    for (const [place, value] of step(0.75, 0.5, -1.5).entries()) expect(results[place]).toBeCloseTo(value, 5);
  });

  test("in floats, with variable tensors", async () => {
    const own = { ...f, isVariable: true };
    const imported = importTflite(basic({ x: f, last: own, weights, bias, state: own }, { y: f, next: f }));
    expectValid(imported);
    expect(imported.states.map(({ input, output }) => [input, output])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    const results = (await execute(imported, [[0.75], [0.5], [-1.5]])).flat();
    const [result, state] = step(0.75, 0.5, -1.5);
    for (const [place, value] of [result, state, result, state].entries()) expect(results[place]).toBeCloseTo(value, 5);
  });

  test("in UINT8 with a 16-bit state", async () => {
    const u = { type: "UINT8", shape: [1, 1], scale: 1 / 128, zeroPoint: 128 } as const;
    const s = { type: "INT16", shape: [1, 1], scale: 2 ** -11 } as const;
    // Steps of 1/64: the weights are exact.
    const bytes = {
      type: "UINT8",
      shape: [4, 2],
      scale: 1 / 64,
      zeroPoint: 100,
      data: rows.flat().map((w) => 64 * w + 100),
    } as const;
    const integers = { type: "INT32", shape: [4], scale: 1 / 64 / 128, data: biases.map((b) => b * 64 * 128) } as const;
    const imported = importTflite(
      basic({ x: u, last: u, weights: bytes, bias: integers, state: s }, { y: u, next: s }),
      { extensions: false },
    );
    expectValid(imported);
    const [[result = 0] = [], [state = 0] = []] = await execute(imported, [[128 + 96], [128 + 64], [-1.5 * 2048]]);
    const [wanted, next] = step(0.75, 0.5, -1.5);
    expect(Math.abs((result - 128) / 128 - wanted)).toBeLessThan(1.5 / 128);
    expect(Math.abs(state / 2048 - next)).toBeLessThan(4 / 2048);
  });

  test("in UINT8 its concatenated inputs can be read, the sums of its gates cannot", async () => {
    const u = { type: "UINT8", shape: [1, 1], scale: 1 / 128, zeroPoint: 128 } as const;
    const s = { type: "INT16", shape: [1, 1], scale: 2 ** -11 } as const;
    const tensors = {
      x: u,
      last: u,
      weights: { type: "UINT8", shape: [4, 2], scale: 1 / 64, zeroPoint: 100, data: new Array(8).fill(100) },
      bias: { type: "INT32", shape: [4], scale: 1 / 64 / 128, data: [0, 0, 0, 0] },
      state: s,
    } as const;
    const temporaries = { all: { ...u, shape: [1, 2] }, sums: { ...s, shape: [1, 4] } } as const;
    const model = basic(tensors, { y: u, next: s, ...temporaries });
    const withOutputs = (count: number) => changeModel(model, ({ outputs }) => ({ outputs: outputs.slice(0, count) }));
    const imported = importTflite(withOutputs(3), { extensions: false });
    expectValid(imported);
    expect((await execute(imported, [[7], [9], [0]]))[2]).toEqual([7, 9]);
    expect(importTflite(withOutputs(2)).model.main.operations.map(({ type }) => type)).not.toContain("CONCATENATION");
    expect(problemOf(withOutputs(4))).toContain("the sums of the gates, its output 3, are read");
  });

  test.each([
    ["other tensors", { x: f, last: f, weights, bias }, "input 4 (last_state) is missing"],
    [
      "other weights",
      { x: f, last: f, weights: { ...weights, shape: [2, 4] }, bias, state: f },
      "the weights: expected [4, 2], got [2, 4]",
    ],
    [
      "other types",
      { x: { ...f, type: "FLOAT16" }, last: f, weights, bias, state: f },
      "the basic kernel takes FLOAT32 and UINT8",
    ],
  ] as [string, Record<string, TensorGiven>, string][])("is refused with %s", (_, tensors, message) => {
    expect(problemOf(basic(tensors, { y: f, next: f }))).toContain(message);
  });
});
