import { describe, expect, test } from "vitest";
import { execute, importLines } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";
import { lines, recurrent } from "./_recurrent.test-helper.ts";

// One batch, two inputs, one unit.
const x = { type: "FLOAT32", shape: [1, 2] } as const;
const sequence = { type: "FLOAT32", shape: [1, 3, 2] } as const;
const w = { type: "FLOAT32", shape: [1, 2], data: [1, 2] } as const;
const r = { type: "FLOAT32", shape: [1, 1], data: [0.5] } as const;
const v = { type: "FLOAT32", shape: [1], data: [0.25] } as const;
const h = { type: "FLOAT32", shape: [1, 1], isVariable: true } as const;
const y = { type: "FLOAT32", shape: [1, 1] } as const;
const ySequence = { type: "FLOAT32", shape: [1, 3, 1] } as const;

const [W, R, V] = ["FLOAT32[1,2](1,2)", "FLOAT32[1,1](0.5)", "FLOAT32[1](0.25)"];
const [no1, no2, no3] = ["no FLOAT32[0]", "no FLOAT32[0,0]", "no FLOAT32[0,0,0]"];
const clips = { cellClip: 3, projClip: 2, fusedActivationFunction: "TANH" };

/** Weights and biases of a cell with coupled gates, peephole and projection omitted. */
const coupled = [
  undefined,
  w,
  w,
  w,
  undefined,
  r,
  r,
  r,
  ...[undefined, undefined, undefined],
  undefined,
  v,
  v,
  v,
  undefined,
  undefined,
];
const coupledLine = [no2, W, W, W, no2, R, R, R, no1, no1, no1, no1, V, V, V, no2, no1].join(", ");
const whole = [w, w, w, w, r, r, r, r, v, v, v, v, v, v, v, r, v];
const wholeLine = [W, W, W, W, R, R, R, R, V, V, V, V, V, V, V, R, V].join(", ");

describe("LSTM", () => {
  test("with everything", () => {
    const model = recurrent("LSTM", [x, ...whole, h, h, v, v, v, v], { y }, clips);
    const imported = importTflite(model);
    expect(lines(imported)).toEqual([
      `LSTM(in0, ${wholeLine}, in1, in2, 4, 3, 2, ${V}, ${V}, ${V}, ${V}) -> t0:FLOAT32[1,4], out1, out2, out0`,
    ]);
    expect(imported.states).toEqual([
      { name: "p18", input: 1, output: 1 },
      { name: "p19", input: 2, output: 2 },
    ]);
    expect(imported.inputs.map(({ name }) => name)).toEqual(["p0", "p18", "p19"]);
    expect(imported.outputs.map(({ name }) => name)).toEqual(["y", "p18", "p19"]);
  });

  test("with coupled gates and no layer normalisation", () => {
    expect(importLines(recurrent("LSTM", [x, ...coupled, h, h], { y }, clips))).toEqual([
      `LSTM(in0, ${coupledLine}, in1, in2, 4, 3, 2) -> t0:FLOAT32[1,3], out1, out2, out0`,
    ]);
  });

  test("carries its state", async () => {
    const imported = importTflite(recurrent("LSTM", [x, ...coupled, h, h], { y }, { fusedActivationFunction: "TANH" }));
    const [first, ...states] = await execute(imported, [[1, 1]]);
    const [second, , later] = await execute(imported, [[1, 1], ...states]);
    const [hidden, memory] = states;
    expect(hidden).toEqual(first);
    expect(later?.[0]).toBeGreaterThan(memory?.[0] ?? Number.NaN);
    expect(second?.[0]).toBeGreaterThan(first?.[0] ?? Number.NaN);
  });

  test("float input with quantised weights: a hybrid cell", () => {
    const byte = { type: "INT8", scale: 1 } as const;
    const qw = { ...byte, shape: [1, 2], data: [1, 2] } as const;
    const qr = { ...byte, shape: [1, 1], data: [1] } as const;
    const weights = [undefined, qw, qw, qw, undefined, qr, qr, qr, undefined, undefined, undefined, undefined];
    const tensors = [x, ...weights, v, v, v, undefined, undefined, h, h];
    const model = recurrent("LSTM", tensors, { y }, { ...clips, asymmetricQuantizeInputs: true });
    expect(importLines(model)[0]).toMatch(
      /^nnhal.tflite LSTM\(in0, .*, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0\) -> out0, out1, out2$/,
    );
    expect(importLines(model, { hybrid: "widened" }).at(-1)).toMatch(/^LSTM\(in0, no FLOAT32\[0,0\], t0, t1, t2,/);
  });

  test("float input with quantised weights that are not of one type: each is widened once", () => {
    const q = { type: "INT8", shape: [1, 2], data: [1, 2], scale: 1 } as const;
    const model = recurrent("LSTM", [x, undefined, q, w, w, ...coupled.slice(4), h, h], { y }, clips);
    expect(importLines(model)[0]).toBe("DEQUANTIZE(QUANT8_ASYMM_SIGNED[1,2]*1(1,2)) -> t0:FLOAT32[1,2]");
  });

  test("a state of another rank is refused", () => {
    const flat = { ...h, shape: [2] };
    expect(() => importTflite(recurrent("LSTM", [x, ...coupled, h, flat], { y }), { extensions: false })).toThrow(
      "the cell state has to have 2 dimensions, it has 1",
    );
  });

  test.each(["RELU_N1_TO_1", "SIGN_BIT"])("the activation %s is refused", (fusedActivationFunction) => {
    expect(() =>
      importTflite(recurrent("LSTM", [x, ...coupled, h, h], { y }, { fusedActivationFunction }), { extensions: false }),
    ).toThrow(`the HAL has no LSTM cells with the activation ${fusedActivationFunction}`);
  });

  test("state that is not a variable tensor is refused", () => {
    const model = recurrent("LSTM", [x, ...coupled, { ...h, isVariable: false, data: [0] }, h], { y }, clips);
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "is state of an operator, but not a variable tensor",
    );
  });
});

describe("sequences", () => {
  test("UNIDIRECTIONAL_SEQUENCE_LSTM", () => {
    const tensors = [sequence, ...coupled, h, h, undefined, undefined, undefined, undefined];
    expect(
      importLines(recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", tensors, { y: ySequence }, { ...clips, timeMajor: false })),
    ).toEqual([
      `UNIDIRECTIONAL_SEQUENCE_LSTM(in0, ${coupledLine}, in1, in2, 4, 3, 2, 0, ${no1}, ${no1}, ${no1}, ${no1}) -> out0, out1, out2`,
    ]);
    const diagonal = { diagonalRecurrentTensors: true };
    expect(() =>
      importTflite(recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", tensors, { y: ySequence }, diagonal), {
        extensions: false,
      }),
    ).toThrow("the HAL has no diagonal recurrent weights");
    const wide = [{ ...sequence, type: "INT16", scale: 1 } as const, ...tensors.slice(1)];
    expect(() =>
      importTflite(recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", wide, { y: ySequence }), { extensions: false }),
    ).toThrow("the HAL computes it in float only, the input is TENSOR_QUANT16_SYMM");
  });

  test.each([
    [false, { f: ySequence, b: ySequence }, "out0, out1, out2, out3, out4, out5"],
    [true, { y: { ...ySequence, shape: [1, 3, 2] } }, "out0, out1, out2, out3, out4"],
  ])("BIDIRECTIONAL_SEQUENCE_LSTM, merged: %s", (mergeOutputs, outputs, written) => {
    const tensors = [sequence, ...coupled, ...whole, h, h, h, h, ...new Array<undefined>(9).fill(undefined)];
    const model = recurrent("BIDIRECTIONAL_SEQUENCE_LSTM", tensors, outputs, {
      ...clips,
      mergeOutputs,
      timeMajor: false,
    });
    const aux = [no3, ...new Array<string>(8).fill(no2)].join(", ");
    const normalisation = new Array<string>(8).fill(no1).join(", ");
    expect(importLines(model)).toEqual([
      `BIDIRECTIONAL_SEQUENCE_LSTM(in0, ${coupledLine}, ${wholeLine}, in1, in2, in3, in4, ${aux}, 4, 3, 2, ${Number(mergeOutputs)}, 0, ${normalisation}) -> ${written}`,
    ]);
  });

  test("RNN", () => {
    const model = recurrent("RNN", [x, w, r, v, h], { y }, { fusedActivationFunction: "RELU" });
    expect(importLines(model)).toEqual([`RNN(in0, ${W}, ${R}, ${V}, in1, 1) -> out1, out0`]);
    expect(() =>
      importTflite(recurrent("RNN", [x, w, r, v, h], { y }, { fusedActivationFunction: "TANH" }), {
        extensions: false,
      }),
    ).toThrow("the HAL cannot fuse the activation TANH into it");
  });

  test.each([true, false])("UNIDIRECTIONAL_SEQUENCE_RNN has an integer flag, time major: %s", (timeMajor) => {
    const model = recurrent(
      "UNIDIRECTIONAL_SEQUENCE_RNN",
      [{ ...sequence, shape: timeMajor ? [3, 1, 2] : [1, 3, 2] }, w, r, v, h],
      { y: { ...ySequence, shape: timeMajor ? [3, 1, 1] : [1, 3, 1] } },
      { timeMajor },
    );
    expect(importLines(model)).toEqual([
      `UNIDIRECTIONAL_SEQUENCE_RNN(in0, ${W}, ${R}, ${V}, in1, 0, ${Number(timeMajor)}) -> out0, out1`,
    ]);
  });

  test.each([
    [false, { f: ySequence, b: ySequence }, "out0, out1, out2, out3"],
    [true, { y: { ...ySequence, shape: [1, 3, 2] } }, "out0, out1, out2"],
  ])("BIDIRECTIONAL_SEQUENCE_RNN, merged: %s", (mergeOutputs, outputs, written) => {
    const tensors = [sequence, w, r, v, h, w, r, v, h, undefined, undefined, undefined];
    expect(importLines(recurrent("BIDIRECTIONAL_SEQUENCE_RNN", tensors, outputs, { mergeOutputs }))).toEqual([
      `BIDIRECTIONAL_SEQUENCE_RNN(in0, ${W}, ${R}, ${V}, in1, ${W}, ${R}, ${V}, in2, ${no3}, ${no2}, ${no2}, 0, 0, ${Number(mergeOutputs)}) -> ${written}`,
    ]);
  });

  test.each([
    [true, "in1", 1],
    // As in TensorFlow Lite, whose kernel reads the first input in both directions.
    [false, no3, 0],
  ])("BIDIRECTIONAL_SEQUENCE_RNN with an auxiliary input without weights, time major: %s", (timeMajor, shown, code) => {
    const tensors = [sequence, w, r, v, h, w, r, v, h, sequence, undefined, undefined];
    const options = { mergeOutputs: true, timeMajor };
    const [line] = importLines(
      recurrent("BIDIRECTIONAL_SEQUENCE_RNN", tensors, { y: { ...ySequence, shape: [1, 3, 2] } }, options),
    );
    expect(line).toContain(`${shown}, ${no2}, ${no2}, 0, ${code}, 1) ->`);
  });
});

describe("SVDF", () => {
  const time = { type: "FLOAT32", shape: [1, 3], data: [1, 2, 3] } as const;
  const state = { type: "FLOAT32", shape: [1, 3], isVariable: true } as const;

  test.each([
    [v, V],
    [undefined, no1],
  ])("with bias %j", (bias, shown) => {
    const model = recurrent("SVDF", [x, w, time, bias, state], { y }, { rank: 1, fusedActivationFunction: "RELU" });
    expect(importLines(model)).toEqual([`SVDF(in0, ${W}, FLOAT32[1,3](1,2,3), ${shown}, in1, 1, 1) -> out1, out0`]);
  });

  test("depends on earlier inputs", async () => {
    const imported = importTflite(recurrent("SVDF", [x, w, time, undefined, state], { y }, { rank: 1 }));
    const [first, ...states] = await execute(imported, [[1, 0]]);
    const [second] = await execute(imported, [[0, 0], ...states]);
    expect([first, second]).toEqual([[3], [2]]);
  });
});
