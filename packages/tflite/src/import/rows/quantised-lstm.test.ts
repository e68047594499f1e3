import { describe, expect, test } from "vitest";
import { execute, importLines } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";
import { recurrent } from "./_recurrent.test-helper.ts";

const clips = { cellClip: 3, projClip: 2, fusedActivationFunction: "TANH" };

describe("quantised LSTM", () => {
  const qx = { type: "INT8", shape: [1, 2], scale: 0.5 } as const;
  const qw = { type: "INT8", shape: [1, 2], data: [1, 2], scale: 0.25 } as const;
  const qr = { type: "INT8", shape: [1, 1], data: [1], scale: 0.25 } as const;
  const qv = { type: "INT16", shape: [1], data: [1], scale: 2 ** -13 } as const;
  const qb = { type: "INT32", shape: [1], data: [1], scale: 0.125 } as const;
  const qh = { type: "INT8", shape: [1, 1], scale: 0.5, isVariable: true } as const;
  const memory = { type: "INT16", shape: [1, 1], scale: 2 ** -11, isVariable: true } as const;
  const qy = { type: "INT8", shape: [1, 1], scale: 0.5 } as const;
  const gate = (scale: number) => ({ type: "INT16", shape: [], scale }) as const;
  const inner = {
    g0: gate(0.5),
    g1: gate(0.25),
    g2: gate(0.125),
    g3: gate(0.0625),
    hidden: { type: "INT8", shape: [], scale: 0.5, zeroPoint: 3 },
  } as const;
  const cell = [
    undefined,
    qw,
    qw,
    qw,
    undefined,
    qr,
    qr,
    qr,
    undefined,
    undefined,
    undefined,
    undefined,
    qb,
    qb,
    qb,
    undefined,
    undefined,
  ];
  const [QW, QR, QB] = ["QUANT8_SYMM[1,2]*0.25(1,2)", "QUANT8_SYMM[1,1]*0.25(1)", "INT32[1]*0.125(1)"];
  const none = "no QUANT8_SYMM[0,0]*1";
  const no16 = "no QUANT16_SYMM[0]*1";
  const cellLine = [
    none,
    QW,
    QW,
    QW,
    none,
    QR,
    QR,
    QR,
    no16,
    no16,
    no16,
    "no INT32[0]",
    QB,
    QB,
    QB,
    none,
    "no INT32[0]",
  ].join(", ");

  test("gate scales have 12 fractional bits without layer normalisation", () => {
    expect(importLines(recurrent("LSTM", [qx, ...cell, qh, memory], { qy }, clips, inner))).toEqual([
      `QUANTIZED_LSTM(in0, ${cellLine}, in1, in2, ${no16}, ${no16}, ${no16}, ${no16}, 3, 2, ${2 ** -12}, ${2 ** -12}, ${2 ** -12}, ${2 ** -12}, 3, 0.5) -> out1, out2, out0`,
    ]);
  });

  test.each([false, true])("a sequence is one QUANTIZED_LSTM for each step, time major: %s", (timeMajor) => {
    const shape = timeMajor ? [2, 1, 2] : [1, 2, 2];
    const [input, output] = [
      { ...qx, shape },
      { ...qy, shape: timeMajor ? [2, 1, 1] : [1, 2, 1] },
    ] as const;
    const model = recurrent(
      "UNIDIRECTIONAL_SEQUENCE_LSTM",
      [input, ...cell, qh, memory],
      { qy: output },
      { ...clips, timeMajor },
      inner,
    );
    const time = timeMajor ? 0 : 1;
    const [part, row] = [timeMajor ? "1,1,2" : "1,1,2", "1,1,1"];
    const rest = `${no16}, ${no16}, ${no16}, ${no16}, 3, 2, ${2 ** -12}, ${2 ** -12}, ${2 ** -12}, ${2 ** -12}, 3, 0.5`;
    const S8 = "QUANT8_ASYMM_SIGNED";
    expect(importLines(model)).toEqual([
      `SPLIT(in0, ${time}, 2) -> t0:${S8}[${part}]*0.5, t1:${S8}[${part}]*0.5`,
      `SQUEEZE(t0, INT32[1](${time})) -> t2:${S8}[1,2]*0.5`,
      `SQUEEZE(t1, INT32[1](${time})) -> t3:${S8}[1,2]*0.5`,
      `QUANTIZED_LSTM(t2, ${cellLine}, in1, in2, ${rest}) -> t4:${S8}[1,1]*0.5, t5:QUANT16_SYMM[1,1]*${2 ** -11}, t6:${S8}[1,1]*0.5`,
      `QUANTIZED_LSTM(t3, ${cellLine}, t4, t5, ${rest}) -> out1, out2, t7:${S8}[1,1]*0.5`,
      `EXPAND_DIMS(t6, ${time}) -> t8:${S8}[${row}]*0.5`,
      `EXPAND_DIMS(t7, ${time}) -> t9:${S8}[${row}]*0.5`,
      `CONCATENATION(t8, t9, ${time}) -> out0`,
    ]);
  });

  test("a sequence computes what its steps do", async () => {
    const steps = importTflite(recurrent("LSTM", [qx, ...cell, qh, memory], { qy }, clips, inner));
    const [input, output] = [
      { ...qx, shape: [1, 2, 2] },
      { ...qy, shape: [1, 2, 1] },
    ] as const;
    const whole = importTflite(
      recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", [input, ...cell, qh, memory], { qy: output }, clips, inner),
    );
    const [first = [], ...states] = await execute(steps, [[40, -20], [0], [0]]);
    const [second = [], ...last] = await execute(steps, [[-100, -100], ...states]);
    expect(await execute(whole, [[40, -20, -100, -100], [0], [0]])).toEqual([[...first, ...second], ...last]);
    expect(states).not.toEqual(last);
  });

  test.each([
    [1024, /imported/],
    [1025, /a sequence of 1025 steps is longer than 1024/],
  ])("a sequence of %d steps", (count, outcome) => {
    const [input, output] = [
      { ...qx, shape: [1, count, 2] },
      { ...qy, shape: [1, count, 1] },
    ] as const;
    const tensors = [input, ...cell, qh, memory];
    const model = recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", tensors, { qy: output }, clips, inner);
    const attempt = () => {
      importTflite(model, { extensions: false });
      throw new TypeError("imported");
    };
    expect(attempt).toThrow(outcome);
    expect(importTflite(model).operators).toHaveLength(count > 1024 ? 1 : 3 * count + 2);
  });

  test("the extension's operation, for longer sequences, computes what the steps of the HAL do", async () => {
    const fine = { ...inner, hidden: { type: "INT8", shape: [], scale: 1 / 128, zeroPoint: 3 } } as const;
    const values = Array.from({ length: 2 * 1025 }, (_, place) => ((place * 37) % 256) - 128);
    const resultOf = async (count: number) => {
      // Scales that are not powers of two, so that each rounding counts.
      const odd = cell.map((tensor) => tensor && { ...tensor, scale: tensor.scale * 0.0731 });
      const tensors = [{ ...qx, shape: [1, count, 2] }, ...odd, { ...qh, scale: 1 / 128 }, memory];
      const output = { ...qy, scale: 1 / 128, shape: [1, count, 1] };
      const imported = importTflite(recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", tensors, { qy: output }, clips, fine));
      const [result = []] = await execute(imported, [values.slice(0, 2 * count), [0], [0]]);
      return { result, operations: imported.operators.length };
    };
    const [steps, whole] = [await resultOf(1024), await resultOf(1025)];
    expect([steps.operations > 1024, whole.operations]).toEqual([true, 1]);
    expect(whole.result.slice(0, 1024)).toEqual(steps.result);
    expect(new Set(steps.result).size).toBeGreaterThan(2);
  });

  test("the extension's operation normalises the sums of gates as the HAL does", async () => {
    const resultOf = async (count: number) => {
      const units = 5;
      const some = (length: number, seed: number, most: number) =>
        Array.from({ length }, (__, place) => Math.round(most * Math.sin((place + 1) * 12.9898 + seed * 78.233)));
      const weight = (columns: number, seed: number) =>
        ({ type: "INT8", shape: [units, columns], data: some(units * columns, seed, 127), scale: 0.0173 }) as const;
      const bias = { type: "INT32", shape: [units], data: some(units, 0, 3_000_000), scale: 2 ** -25 } as const;
      const norm = { type: "INT16", shape: [units], data: some(units, 1, 30_000), scale: 2 ** -15 } as const;
      const gates = [2, 3, 4].map((seed) => weight(2, seed));
      const recurrentGates = [5, 6, 7].map((seed) => weight(units, seed));
      const none = [undefined, undefined, undefined];
      const state = { type: "INT8", shape: [1, units], scale: 1 / 128, isVariable: true } as const;
      const input = { ...qx, scale: 0.0231, shape: [1, count, 2] };
      const tensors = [
        ...[input, undefined, ...gates, undefined, ...recurrentGates, ...none, undefined, bias, bias, bias],
        ...[undefined, undefined, state, { ...memory, shape: [1, units] }, undefined, norm, norm, norm],
      ];
      const scales = { g0: gate(2 ** -12), g1: gate(3e-4), g2: gate(2e-4), g3: gate(4e-4) };
      const values = { ...scales, hidden: { type: "INT8", shape: [], scale: 1 / 128 } } as const;
      const output = { type: "INT8", shape: [1, count, units], scale: 1 / 128 } as const;
      const imported = importTflite(recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", tensors, { output }, clips, values));
      const given = Array.from({ length: 2 * count }, (__, place) => ((place * 37) % 256) - 128);
      const [result = []] = await execute(imported, [given, some(units, 0, 0), some(units, 0, 0)]);
      return { result, operations: imported.operators.length };
    };
    const [steps, whole] = [await resultOf(1024), await resultOf(1025)];
    expect([steps.operations > 1024, whole.operations]).toEqual([true, 1]);
    expect(whole.result.slice(0, 5 * 1024)).toEqual(steps.result);
    expect(new Set(steps.result).size).toBeGreaterThan(20);
  });

  test("an operation of the extension has the quantisation of its intermediate values", () => {
    const wide = { type: "INT16", scale: 2 ** -15 } as const;
    const [input, state] = [
      { ...qx, ...wide, zeroPoint: 0 },
      { ...qh, ...wide, zeroPoint: 0 },
    ];
    const bias = { type: "INT64", shape: [1], data: [2 ** 40] } as const;
    const tensors = [input, ...cell.slice(0, 12), bias, bias, bias, undefined, undefined, state, memory];
    const model = recurrent("LSTM", tensors, { qy: { ...qy, ...wide, zeroPoint: 0 } }, clips, inner);
    expect(importLines(model)[0]).toMatch(
      /^nnhal.tflite LSTM\(.*, 0.5, 0.25, 0.125, 0.0625, 3, 0.5\) -> out0, out1, out2$/,
    );
  });

  test("with layer normalisation they are the file's", () => {
    const [line] = importLines(
      recurrent("LSTM", [qx, ...cell, qh, memory, undefined, qv, qv, qv], { qy }, clips, inner),
    );
    const Q = `QUANT16_SYMM[1]*${2 ** -13}(1)`;
    expect(line).toContain(`in2, ${no16}, ${Q}, ${Q}, ${Q}, 3, 2, 0.5, 0.25, 0.125, 0.0625, 3, 0.5)`);
  });

  test.each([
    ["0.00019", 0.000_19, "QUANTIZED_LSTM"],
    ["0.00021", 0.000_21, "nnhal.tflite LSTM"],
  ])("normalisation weights of scale %s, whose least variance the HAL has or has not", (_, scale, operation) => {
    const norm = { ...qv, scale };
    const tensors = [qx, ...cell, qh, memory, undefined, norm, norm, norm];
    expect(importLines(recurrent("LSTM", tensors, { qy }, clips, inner))[0]).toContain(`${operation}(`);
  });

  const qp = { type: "INT8", shape: [1, 1], data: [100], scale: 0.25 } as const;
  const projected = [...cell.slice(0, 15), qp, undefined];

  test.each([
    [0, 0, "QUANTIZED_LSTM"],
    [0, 2, "QUANTIZED_LSTM"],
    [5, 0, "QUANTIZED_LSTM"],
    [5, 2, "nnhal.tflite LSTM"],
  ])("results of zero point %d and a projection's clip of %d", (zeroPoint, projClip, operation) => {
    const tensors = [qx, ...projected, { ...qh, zeroPoint }, memory];
    const model = recurrent("LSTM", tensors, { qy: { ...qy, zeroPoint } }, { ...clips, projClip }, inner);
    expect(importLines(model)[0]).toContain(`${operation}(`);
    expect(importLines(model, { extensions: false })[0]).toContain("QUANTIZED_LSTM(");
  });

  test("the clip of a projection bounds the elements with their zero point", async () => {
    const tensors = [qx, ...projected, { ...qh, zeroPoint: 5 }, memory];
    const options = { ...clips, projClip: 2 };
    const fine = { ...inner, hidden: { type: "INT8", shape: [], scale: 1 / 128, zeroPoint: 0 } } as const;
    const model = recurrent("LSTM", tensors, { qy: { ...qy, zeroPoint: 5 } }, options, fine);
    const outputsFor = async (extensions: boolean) => {
      const { 0: result } = await execute(importTflite(model, { extensions }), [[0, 0], [5], [0]]);
      return result;
    };
    // The clip is 4 steps of 0.5. The result is 1 or so, an element of 7.
    expect([await outputsFor(true), await outputsFor(false)]).toEqual([[4], [7]]);
  });

  test.each(["LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM"])("%s with 12 intermediate values is refused", (name) => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, place) => [`g${place}`, gate(0.5)]));
    const model = recurrent(name, [qx, ...cell, qh, memory], { qy }, clips, many);
    expect(() => importTflite(model)).toThrow("an LSTM with 12 intermediate tensors is refused");
  });

  test("without a quantisation of the hidden state it is refused", () => {
    expect(() =>
      importTflite(recurrent("LSTM", [qx, ...cell, qh, memory], { qy }, clips), { extensions: false }),
    ).toThrow("the quantisation of the hidden state (intermediate 4) is missing");
  });

  test("weights with a zero point are refused", () => {
    const shifted = [undefined, { ...qw, zeroPoint: 1 }, ...cell.slice(2)];
    expect(() =>
      importTflite(recurrent("LSTM", [qx, ...shifted, qh, memory], { qy }, clips, inner), { extensions: false }),
    ).toThrow("weight (input 2): expected INT8 with one scale and zero point 0, got TENSOR_QUANT8_ASYMM_SIGNED with 1");
  });
});
