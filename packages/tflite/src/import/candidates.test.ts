import { describe, expect, it } from "vitest";
import { importLines, oneOperator, problemOf } from "../_model.test-helper.ts";

const bytes = (scale: number, shape = [2, 2]) => ({ type: "INT8", shape, scale }) as const;
const axis = { type: "INT32", shape: [], data: [0] } as const;

describe("An operator becomes", () => {
  it("a constant before its row is asked", () => {
    const left = { type: "INT32", shape: [1], data: [1] } as const;
    const right = { ...left, data: [2] } as const;
    const model = oneOperator("ADD", { left, right }, { sum: { type: "INT32", shape: [1] } });
    expect(importLines(model)).toEqual(["CAST(INT32[1](3)) -> out0"]);
  });

  it("the HAL's operation if its row accepts it", () => {
    const model = oneOperator("SPLIT", { axis, x: bytes(0.5) }, { y: bytes(0.5) }, { numSplits: 1 });
    expect(importLines(model)).toEqual(["SPLIT(in0, 0, 1) -> out0"]);
  });

  it("the extension's operation if its row refuses it", () => {
    const model = oneOperator("MAXIMUM", { x: bytes(0.5), y: bytes(0.25) }, { z: bytes(1) });
    expect(importLines(model)[0]).toContain("nnhal.tflite MAXIMUM");
  });

  const float = { type: "FLOAT32", shape: [2, 3] } as const;
  const unpack = oneOperator("UNPACK", { x: float }, { y: { type: "FLOAT32", shape: [3] } }, { num: 1, axis: 0 });
  const ofRow = "dimension 0 of 2 does not make 1 outputs";

  it("nothing, with the reasons of both, if neither accepts it", () => {
    const ofExtension = "the extension's UNPACK cannot compute it: axis 0: expected extent 1 (num), got 2";
    expect(problemOf(unpack, { extensions: true })).toContain(`(UNPACK version 1): ${ofRow}; ${ofExtension}`);
  });

  it("nothing, with the reason of the row alone, without the extension", () => {
    expect(problemOf(unpack)).toMatch(new RegExp(`${ofRow}$`));
  });

  it("nothing if its version is not known, without the extension", () => {
    const model = oneOperator("CEIL", { x: float }, { y: float }, {}, { version: 2 });
    expect(problemOf(model)).toContain("(CEIL version 2): version 2 is not supported, only 1 to 1");
  });

  it("nothing if nothing has it", () => {
    const model = oneOperator("CUSTOM", { x: float }, { y: float }, {}, { customCode: "Mine" });
    expect(problemOf(model, { extensions: true })).toContain(
      'the HAL has no counterpart of the custom operator "Mine"',
    );
  });
});
