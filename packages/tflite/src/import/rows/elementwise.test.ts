import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2, 3] } as const;
const row = { type: "FLOAT32", shape: [3] } as const;
const i32 = { type: "INT32", shape: [2, 3] } as const;
const bool = { type: "BOOL", shape: [2, 3] } as const;
const q8 = { type: "UINT8", shape: [2, 3], scale: 0.5, zeroPoint: 128 } as const;
const q8s = { type: "INT8", shape: [2, 3], scale: 0.5, zeroPoint: -3 } as const;

describe("arithmetic", () => {
  test.each(["ADD", "SUB", "MUL", "DIV"])("%s broadcasts and fuses its activation", (name) => {
    const model = oneOperator(name, { a: f, b: row }, { y: f }, { fusedActivationFunction: "RELU6" });
    expect(importLines(model)).toEqual([`${name}(in0, in1, 3) -> out0`]);
  });

  test.each([
    ["NONE", 0],
    ["RELU", 1],
    ["RELU_N1_TO_1", 2],
    ["RELU6", 3],
  ])("activation %s is %d", (fusedActivationFunction, code) => {
    const model = oneOperator("ADD", { a: f, b: f }, { y: f }, { fusedActivationFunction });
    expect(importLines(model)).toEqual([`ADD(in0, in1, ${code}) -> out0`]);
  });

  test("an activation that the HAL cannot fuse is refused by name", () => {
    const model = oneOperator("ADD", { a: f, b: f }, { y: f }, { fusedActivationFunction: "TANH" });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "subgraphs[0].operators[0] (ADD version 1): the HAL cannot fuse the activation TANH into it",
    );
  });

  test("an activation code newer than the schema is refused by number", () => {
    const model = oneOperator("ADD", { a: f, b: f }, { y: f }, { fusedActivationFunction: 77 });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "option fusedActivationFunction: expected a known member, got 77",
    );
  });

  test("options that the file leaves out have their defaults", () => {
    expect(importLines(oneOperator("ADD", { a: f, b: f }, { y: f }))).toEqual(["ADD(in0, in1, 0) -> out0"]);
  });

  test("INT32 has no activation", () => {
    const model = (fusedActivationFunction: string) =>
      oneOperator("MUL", { a: i32, b: i32 }, { y: i32 }, { fusedActivationFunction });
    expect(importLines(model("NONE"))).toEqual(["MUL(in0, in1, 0) -> out0"]);
    expect(() => importTflite(model("RELU"), { extensions: false })).toThrow(
      "cannot apply the activation RELU to INT32",
    );
  });

  test("8-bit operands keep their quantisation", () => {
    expect(importLines(oneOperator("ADD", { a: q8, b: { ...q8, data: [1, 2, 3, 4, 5, 6] } }, { y: q8 }))).toEqual([
      "ADD(in0, QUANT8_ASYMM[2,3]*0.5@128(1,2,3,4,5,6), 0) -> out0",
    ]);
    expect(importTflite(oneOperator("SUB", { a: q8s, b: q8s }, { y: q8s })).inputs[0]).toMatchObject({
      type: "TENSOR_QUANT8_ASYMM_SIGNED",
      scale: 0.5,
      zeroPoint: -3,
    });
  });

  test("MUL with a result scale that is not above the product of the inputs' scales is computed in float", async () => {
    const model = (scale: number) => oneOperator("MUL", { a: q8, b: q8 }, { y: { ...q8, scale } });
    expect(importLines(model(0.2500001))).toEqual(["MUL(in0, in1, 0) -> out0"]);
    expect(importLines(model(0.25))).toEqual([
      "DEQUANTIZE(in0) -> t0:FLOAT32[2,3]",
      "DEQUANTIZE(in1) -> t1:FLOAT32[2,3]",
      "MUL(t0, t1, 0) -> t2:FLOAT32[2,3]",
      "QUANTIZE(t2) -> out0",
    ]);
  });

  test.each([
    ["ABS", -2, 1],
    ["EXP", -2, Math.exp(-1)],
    ["LOG", 6, Math.log(3)],
    ["RSQRT", 8, 0.5],
  ])("%s of 8-bit tensors is computed in float", async (name, given, real) => {
    const x = { type: "INT8", shape: [1], scale: 0.5 } as const;
    const model = oneOperator(name, { x }, { y: { ...x, scale: 1 / 64, zeroPoint: -1 } });
    expect(importLines(model).map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", name, "QUANTIZE"]);
    expect(await execute(importTflite(model), [[given]])).toEqual([[Math.min(Math.round(64 * real) - 1, 127)]]);
  });

  test("SQRT of 8-bit tensors rounds down in the extension, and is computed in float without it", async () => {
    const x = { type: "INT8", shape: [1], scale: 0.5 } as const;
    const model = oneOperator("SQRT", { x }, { y: { ...x, scale: 0.25, zeroPoint: -1 } });
    expect(importLines(model)).toEqual(["nnhal.tflite SQRT(in0) -> out0"]);
    // The root of 3.5 is 7.48 steps, that of 7.5 is 10.95.
    expect(await execute(importTflite(model), [[7]])).toEqual([[6]]);
    expect(await execute(importTflite(model), [[15]])).toEqual([[9]]);
    const alone = importTflite(model, { extensions: false });
    expect(await execute(alone, [[15]])).toEqual([[10]]);
  });

  test.each([
    ["ADD", [-3, 6], [-2, 9], [0, 6]],
    ["SUB", [-3, 16], [-2, 9], [0, 6]],
    ["MUL", [-3, 2], [2, 2], [0, 4]],
    ["DIV", [-7, 20], [2, 3], [0, 6]],
  ] as const)("%s of INT32 with an activation is of the extension", async (name, a, b, wanted) => {
    const pair = { type: "INT32", shape: [2] } as const;
    const model = oneOperator(name, { a: pair, b: pair }, { y: pair }, { fusedActivationFunction: "RELU6" });
    expect(importLines(model)).toEqual([`nnhal.tflite ${name}(in0, in1, 3) -> out0`]);
    expect(await execute(importTflite(model), [a, b])).toEqual([[...wanted]]);
  });

  test.each([
    ["DIV", -3],
    ["FLOOR_DIV", -4],
    ["FLOOR_MOD", 1],
  ])("%s of INT32 with 5 dimensions rounds as with 4", async (name, wanted) => {
    for (const shape of [
      [1, 1, 1, 1],
      [1, 1, 1, 1, 1],
    ]) {
      const x = { type: "INT32", shape } as const;
      expect(await execute(importTflite(oneOperator(name, { a: x, b: x }, { y: x })), [[-7], [2]])).toEqual([[wanted]]);
    }
  });

  test.each(["MAXIMUM", "MINIMUM"])(
    "%s of 8-bit elements of other quantisations compares what is stored",
    async (name) => {
      const x = { type: "INT8", shape: [2], scale: 0.5 } as const;
      const model = (scale: number) => oneOperator(name, { a: x, b: { ...x, scale } }, { y: x });
      expect(importLines(model(0.5))).toEqual([`${name}(in0, in1) -> out0`]);
      expect(importLines(model(4))).toEqual([`nnhal.tflite ${name}(in0, in1) -> out0`]);
      const wanted = name === "MAXIMUM" ? [7, 5] : [6, -5];
      expect(
        await execute(importTflite(model(4)), [
          [7, -5],
          [6, 5],
        ]),
      ).toEqual([wanted]);
    },
  );

  test("DIV of INT32 rounds towards 0, which the HAL's does not", async () => {
    const x = { type: "INT32", shape: [6] } as const;
    const model = oneOperator("DIV", { a: x, b: x }, { y: x });
    expect(importLines(model).map((line) => line.split("(")[0])).toEqual([
      "DIV",
      "NEG",
      "DIV",
      "NEG",
      "MINIMUM",
      "MAXIMUM",
    ]);
    const given = [
      [7, -7, 7, -7, 6, -6],
      [2, 2, -2, -2, 3, 3],
    ];
    expect((await execute(importTflite(model), given))[0]?.map((value) => value + 0)).toEqual([3, -3, -3, 3, 2, -2]);
  });

  test("FLOOR_MOD of INT32 has the sign of the divisor", async () => {
    const x = { type: "INT32", shape: [5] } as const;
    const model = oneOperator("FLOOR_MOD", { a: x, b: x }, { y: x });
    expect(
      await execute(importTflite(model), [
        [7, -7, 7, -7, 6],
        [3, 3, -3, -3, 3],
      ]),
    ).toEqual([[1, 2, -2, -1, 0]]);
    const floats = oneOperator("FLOOR_MOD", { a: f, b: f }, { y: f });
    expect(() => importTflite(floats, { extensions: false })).toThrow("exactly for INT32 only, not for TENSOR_FLOAT32");
  });

  test("RELU_0_TO_1 is a clamp", async () => {
    const model = oneOperator("RELU_0_TO_1", { x: f }, { y: f });
    expect(await execute(importTflite(model), [[-1, 0, 0.5, 1, 1.5, 9]])).toEqual([[0, 0, 0.5, 1, 1, 1]]);
    const bytes = oneOperator("RELU_0_TO_1", { x: q8 }, { y: q8 });
    expect(() => importTflite(bytes, { extensions: false })).toThrow("not for TENSOR_QUANT8_ASYMM");
  });

  test("DIV of 8-bit tensors is computed in float", async () => {
    const x = { type: "UINT8", shape: [1], scale: 0.5, zeroPoint: 100 } as const;
    const model = oneOperator("DIV", { a: x, b: x }, { y: { ...x, scale: 0.25 } });
    // -5 / 2 in steps of 0.25.
    expect(await execute(importTflite(model), [[90], [104]])).toEqual([[90]]);
  });

  test("INT16 is refused with the tensors' names and types", () => {
    const q16 = { type: "INT16", shape: [2], scale: 0.5 } as const;
    expect(() => importTflite(oneOperator("ADD", { a: q16, b: q16 }, { y: q16 }), { extensions: false })).toThrow(
      /\(ADD version 1\): the HAL's ADD cannot compute it: input 0 .*: expected .*, got TENSOR_QUANT16_SYMM.* The tensors are tensor 0 "a" \(INT16\[2\]\), tensor 1 "b" \(INT16\[2\]\), tensor 2 "y" \(INT16\[2\]\)/,
    );
  });

  test("more dimensions than the HAL accepts are refused", () => {
    const deep = { type: "FLOAT32", shape: [1, 1, 1, 1, 2] } as const;
    expect(() => importTflite(oneOperator("ADD", { a: deep, b: deep }, { y: deep }), { extensions: false })).toThrow(
      /here there are 5/,
    );
  });
});

describe("compositions", () => {
  test("SQUARE multiplies by itself", () => {
    expect(importLines(oneOperator("SQUARE", { x: f }, { y: f }))).toEqual(["MUL(in0, in0, 0) -> out0"]);
  });

  test("SQUARED_DIFFERENCE", async () => {
    const model = oneOperator("SQUARED_DIFFERENCE", { a: f, b: row }, { y: f });
    expect(importLines(model)).toEqual(["SUB(in0, in1, 0) -> t0:FLOAT32[2,3]", "MUL(t0, t0, 0) -> out0"]);
    expect(
      await execute(importTflite(model), [
        [1, 2, 3, 4, 5, 6],
        [0, 4, 3],
      ]),
    ).toEqual([[1, 4, 0, 16, 1, 9]]);
  });

  test("SQUARED_DIFFERENCE of 8-bit tensors is computed in float, and rounded once", async () => {
    const x = { type: "INT8", shape: [2], scale: 0.5 } as const;
    const model = oneOperator("SQUARED_DIFFERENCE", { a: x, b: x }, { y: { ...x, scale: 1 } });
    expect(importLines(model)).toEqual([
      "DEQUANTIZE(in0) -> t0:FLOAT32[2]",
      "DEQUANTIZE(in1) -> t1:FLOAT32[2]",
      "SUB(t0, t1, 0) -> t2:FLOAT32[2]",
      "MUL(t2, t2, 0) -> t3:FLOAT32[2]",
      "QUANTIZE(t3) -> out0",
    ]);
    // (1.5 - 0)² and (2 - 5)²: at a scale of 1, 2.25 becomes 2.
    expect(
      await execute(importTflite(model), [
        [3, 4],
        [0, 10],
      ]),
    ).toEqual([[2, 9]]);
  });

  test("FLOOR_DIV of floats rounds the quotient down, of INT32 the HAL's DIV does", async () => {
    const floats = oneOperator("FLOOR_DIV", { a: f, b: f }, { y: f });
    expect(importLines(floats)).toEqual(["nnhal.tflite FLOOR_DIV(in0, in1) -> out0"]);
    const divisor = { ...f, shape: [3], data: [1, 2, -2] };
    const constant = oneOperator("FLOOR_DIV", { a: f, b: divisor }, { y: f });
    expect(importLines(constant).map((line) => line.split("(")[0])).toEqual(["DIV", "FLOOR"]);
    expect(await execute(importTflite(constant), [[7, 7, 7, -7, -7, -7]])).toEqual([[7, 3, -4, -7, -4, 3]]);
    for (const zero of [0, -0]) {
      const refused = oneOperator("FLOOR_DIV", { a: f, b: { ...divisor, data: [1, zero, 2] } }, { y: f });
      expect(importLines(refused)[0]).toMatch(/^nnhal.tflite FLOOR_DIV/);
    }
    const operands = [
      [7, -7, 7, -7, 0, 1],
      [2, 2, -2, -2, 5, 1],
    ];
    const quotients = [3, -4, -4, 3, 0, 1];
    expect(await execute(importTflite(floats), operands)).toEqual([quotients]);
    const integers = oneOperator("FLOOR_DIV", { a: i32, b: i32 }, { y: i32 });
    expect(importLines(integers)).toEqual(["DIV(in0, in1, 0) -> out0"]);
    expect(await execute(importTflite(integers), operands)).toEqual([quotients]);
  });

  test("ADD_N adds one after the other", () => {
    expect(importLines(oneOperator("ADD_N", { a: f, b: f, c: f }, { y: f }))).toEqual([
      "ADD(in0, in1, 0) -> t0:FLOAT32[2,3]",
      "ADD(t0, in2, 0) -> out0",
    ]);
    expect(() => importTflite(oneOperator("ADD_N", { a: f }, { y: f }), { extensions: false })).toThrow(
      "needs at least 2 inputs, it has 1",
    );
  });

  test("CEIL is FLOOR between two NEG", async () => {
    const model = oneOperator("CEIL", { x: row }, { y: row });
    expect(importLines(model)).toEqual(["NEG(in0) -> t0:FLOAT32[3]", "FLOOR(t0) -> t1:FLOAT32[3]", "NEG(t1) -> out0"]);
    expect(await execute(importTflite(model), [[1.5, -1.5, 2]])).toEqual([[2, -1, 2]]);
  });
});

describe("one to one", () => {
  test.each(["FLOOR", "ABS", "NEG", "EXP", "LOG", "SIN", "SQRT", "RSQRT", "HARD_SWISH"])("%s", (name) => {
    expect(importLines(oneOperator(name, { x: f }, { y: f }))).toEqual([`${name}(in0) -> out0`]);
  });

  test.each(["POW", "MAXIMUM", "MINIMUM", "PRELU"])("%s", (name) => {
    expect(importLines(oneOperator(name, { a: f, b: row }, { y: f }))).toEqual([`${name}(in0, in1) -> out0`]);
  });

  test.each(["EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"])("%s", (name) => {
    expect(importLines(oneOperator(name, { a: i32, b: i32 }, { y: bool }))).toEqual([`${name}(in0, in1) -> out0`]);
  });

  test.each(["LOGICAL_AND", "LOGICAL_OR"])("%s", (name) => {
    expect(importLines(oneOperator(name, { a: bool, b: bool }, { y: bool }))).toEqual([`${name}(in0, in1) -> out0`]);
  });

  test("LOGICAL_NOT", () => {
    expect(importLines(oneOperator("LOGICAL_NOT", { a: bool }, { y: bool }))).toEqual(["LOGICAL_NOT(in0) -> out0"]);
  });

  test("HARD_SWISH of 8-bit tensors may change the quantisation", () => {
    const model = oneOperator("HARD_SWISH", { x: q8s }, { y: { ...q8s, scale: 0.25 } });
    expect(importLines(model)).toEqual(["HARD_SWISH(in0) -> out0"]);
  });

  test("a wrong number of inputs is refused", () => {
    expect(() => importTflite(oneOperator("POW", { a: f }, { y: f }), { extensions: false })).toThrow(
      "input 1 (right) is missing; it has inputs [0], and the inputs of POW are left, right",
    );
  });

  test("an omitted input is refused", () => {
    expect(() => importTflite(oneOperator("POW", { a: f, "": {} }, { y: f }), { extensions: false })).toThrow(
      "input 1 (right) is omitted; it has inputs [0, -1]",
    );
  });
});

describe("comparisons", () => {
  const [fine, coarse, other] = [2 ** -9, 2 ** -8, 0.5].map((scale) => ({ ...q8s, scale }));

  test.each([
    ["two scales", coarse, other, "nnhal.tflite "],
    ["two zero points", coarse, { ...coarse, zeroPoint: 0 }, "nnhal.tflite "],
    ["a scale below 2^-8", fine, fine, "nnhal.tflite "],
    ["one scale of at least 2^-8", coarse, coarse, ""],
  ])("of 8-bit elements with %s", (_, a, b, prefix) => {
    for (const name of ["EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"]) {
      const model = oneOperator(name, { a: a ?? q8, b: b ?? q8 }, { y: bool });
      expect(importLines(model)).toEqual([`${prefix}${name}(in0, in1) -> out0`]);
      expect(importLines(model, { extensions: false })).toEqual([`${name}(in0, in1) -> out0`]);
    }
  });

  test("in units of 1/256, as TensorFlow Lite does", async () => {
    const model = oneOperator("EQUAL", { a: fine ?? q8, b: fine ?? q8 }, { y: bool });
    // Half a unit is rounded up.
    const operands = [
      [-3, -2, -1, 0, 1, 2],
      [-2, -1, 0, 1, 2, 3],
    ];
    expect(await execute(importTflite(model), operands)).toEqual([[0, 1, 0, 1, 0, 1]]);
  });
});

describe("RELU_0_TO_1", () => {
  test.each(["INT64", "UINT32", "INT32"] as const)("of %s is refused", (type) => {
    const x = { type, shape: [2] } as const;
    expect(() => importTflite(oneOperator("RELU_0_TO_1", { x }, { y: x }))).toThrow(
      "the HAL computes it exactly for floats only",
    );
  });
});

describe("selection", () => {
  test.each(["SELECT", "SELECT_V2"])("%s of equal shapes", (name) => {
    expect(importLines(oneOperator(name, { c: bool, a: f, b: f }, { y: f }))).toEqual([
      "SELECT(in0, in1, in2) -> out0",
    ]);
  });

  test("elements are chosen as they are stored, whatever their quantisation", async () => {
    const model = oneOperator("SELECT", { c: bool, a: q8, b: { ...q8, scale: 0.25, zeroPoint: 3 } }, { y: q8 });
    expect(importLines(model)).toEqual(["nnhal.tflite SELECT(in0, in1, in2) -> out0"]);
    const operands = [
      [1, 0, 1, 0, 1, 0],
      [1, 2, 3, 4, 5, 6],
      [10, 20, 30, 40, 50, 60],
    ];
    expect(await execute(importTflite(model), operands)).toEqual([[1, 20, 3, 40, 5, 60]]);
    expect(importLines(model, { extensions: false })).toEqual(["SELECT(in0, in1, in2) -> out0"]);
  });

  test("shapes that need broadcasting are refused", () => {
    expect(() =>
      importTflite(oneOperator("SELECT_V2", { c: bool, a: f, b: row }, { y: f }), { extensions: false }),
    ).toThrow("the HAL does not broadcast the shapes [2, 3], [2, 3], [3] here");
  });
});
