import { describe, expect, test } from "vitest";
import { add, execute, importLines, ofOperators, oneOperator } from "../../_model.test-helper.ts";
import { inspectTflite } from "../../describe/inspect.ts";
import { writeTflite } from "../../write.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const half = { type: "FLOAT16", shape: [2] } as const;
const q8 = { type: "UINT8", shape: [2], scale: 0.5, zeroPoint: 10 } as const;
const q8s = { type: "INT8", shape: [2], scale: 0.25, zeroPoint: -10 } as const;

describe("QUANTIZE", () => {
  test("from float", () => {
    expect(importLines(oneOperator("QUANTIZE", { x: f }, { y: q8 }))).toEqual(["QUANTIZE(in0) -> out0"]);
  });

  test("from one 8-bit quantisation to another", async () => {
    const model = oneOperator("QUANTIZE", { x: q8 }, { y: q8s });
    expect(importLines(model)).toEqual(["DEQUANTIZE(in0) -> t0:FLOAT32[2]", "QUANTIZE(t0) -> out0"]);
    expect(await execute(importTflite(model), [[10, 14]])).toEqual([[-10, -2]]);
  });

  test("within one 8-bit type the multiplier has 8 bits after the point, and halves go up", async () => {
    // From a public DeepLab v3: the ratio 0.352816 becomes 90 / 256.
    const x = { type: "UINT8", shape: [4], scale: 0.012422440573573112, zeroPoint: 0 } as const;
    const model = oneOperator("QUANTIZE", { x }, { y: { ...x, scale: 0.03520936891436577 } });
    expect(importLines(model).map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", "MUL", "ADD", "QUANTIZE"]);
    // 78 * 90 / 256 = 27.42, and 64 * 90 / 256 = 22.5.
    expect(await execute(importTflite(model), [[78, 98, 27, 64]])).toEqual([[27, 34, 9, 23]]);
    const halves = oneOperator("QUANTIZE", { x: q8 }, { y: { ...q8, scale: 1 } });
    expect(await execute(importTflite(halves), [[9, 11]])).toEqual([[10, 11]]);
  });

  // A multiplier that is the exact ratio needs no MUL.
  test.each([
    [1, 1, 2],
    [2 ** -8, 1, 3],
    [1.1 * 2 ** -8, 1, 4],
    [2 ** -9, 1, 2],
    [64, 1, 3],
    [63.001, 1, 4],
    [128, 1, 2],
  ])("from scale %d to %d it takes %d operations", (from, to, count) => {
    const [x, y] = [from, to].map((scale) => ({ ...q8, zeroPoint: scale === to ? 0 : 10, scale }));
    expect(importLines(oneOperator("QUANTIZE", { x: x ?? q8 }, { y: y ?? q8 }))).toHaveLength(count);
  });

  test("to INT16 is refused", () => {
    const y = { type: "INT16", shape: [2], scale: 0.5 } as const;
    expect(() => importTflite(oneOperator("QUANTIZE", { x: f }, { y }), { extensions: false })).toThrow(
      "the HAL's QUANTIZE cannot compute it",
    );
  });
});

describe("DEQUANTIZE", () => {
  test.each([
    [q8, "DEQUANTIZE"],
    [q8s, "DEQUANTIZE"],
    [half, "CAST"],
  ])("%j becomes %s", (x, operation) => {
    expect(importLines(oneOperator("DEQUANTIZE", { x }, { y: f }))).toEqual([`${operation}(in0) -> out0`]);
  });

  describe("of a FLOAT16 constant", () => {
    const c = { type: "FLOAT16", shape: [3], data: [0x3c00, 0xc100, 1] } as const;
    const y = { type: "FLOAT32", shape: [3] } as const;
    const floats = `FLOAT32[3](1,-2.5,${2 ** -24})`;

    test.each([
      ["DEQUANTIZE", {}],
      ["CAST", { inDataType: "FLOAT16", outDataType: "FLOAT32" }],
    ])("%s is computed by the import", (name, options) => {
      const widen = { name, inputs: ["c"], outputs: ["w"], options };
      const model = ofOperators({ c, x: y, w: y, y }, [widen, add(["x", "w"], "y")], ["x"], ["y"]);
      expect(importLines(model)).toEqual([`ADD(in0, ${floats}, 0) -> out0`]);
      expect(importLines(model, { extensions: false })).toEqual([`ADD(in0, ${floats}, 0) -> out0`]);
      expect(inspectTflite(model).operators.map(({ status }) => status)).toEqual(["constant", "hal"]);
    });

    test("widens what several operators read once", () => {
      const widen = (output: string) => ({ name: "DEQUANTIZE", inputs: ["c"], outputs: [output] });
      const model = ofOperators(
        { c, x: y, w: y, v: y, t: y, y },
        [widen("w"), widen("v"), add(["x", "w"], "t"), add(["t", "v"], "y")],
        ["x"],
        ["y"],
      );
      const { pools } = importTflite(writeTflite(model)).model;
      expect(pools.map(({ size }) => size)).toEqual([12]);
    });

    test("is a CAST to another type than FLOAT32", () => {
      const toInt = { name: "CAST", inputs: ["c"], outputs: ["w"] };
      const int = { type: "INT32", shape: [3] } as const;
      const model = ofOperators({ c, x: int, w: int, y: int }, [toInt, add(["x", "w"], "y")], ["x"], ["y"]);
      expect(importLines(model)[0]).toMatch(/^CAST\(FLOAT16/);
    });

    test("that is the output is copied", async () => {
      const model = ofOperators({ c, y }, [{ name: "DEQUANTIZE", inputs: ["c"], outputs: ["y"] }], [], ["y"]);
      expect(await execute(importTflite(model), [])).toEqual([[1, -2.5, 2 ** -24]]);
    });
  });

  test("of a constant with a scale per channel", () => {
    const x = { type: "INT8", shape: [2], data: [3, 4], scale: [0.5, 2], zeroPoint: [0, 0] } as const;
    expect(importLines(oneOperator("DEQUANTIZE", { x }, { y: f }))).toEqual([
      "DEQUANTIZE(QUANT8_SYMM_PER_CHANNEL[2]*{0.5,2}d0(3,4)) -> out0",
    ]);
  });
});

describe("CAST", () => {
  test.each([
    [f, { ...f, type: "INT32" }],
    [f, half],
    [{ ...f, type: "INT32" }, f],
    [{ ...f, type: "UINT8" }, f],
  ] as const)("%j to %j", (x, y) => {
    expect(importLines(oneOperator("CAST", { x }, { y }))).toEqual(["CAST(in0) -> out0"]);
  });

  test("integers without quantisation represent themselves", () => {
    const { inputs } = importTflite(oneOperator("CAST", { x: { type: "UINT8", shape: [2] } }, { y: f }));
    expect(inputs[0]).toMatchObject({ type: "TENSOR_QUANT8_ASYMM", scale: 1, zeroPoint: 0 });
  });

  test("of BOOL is refused", () => {
    expect(() =>
      importTflite(oneOperator("CAST", { x: { ...f, type: "BOOL" } }, { y: f }), { extensions: false }),
    ).toThrow("the HAL's CAST cannot compute it");
  });
});
