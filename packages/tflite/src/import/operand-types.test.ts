import { describe, expect, test } from "vitest";
import { importLines, oneOperator, problemOf } from "../_model.test-helper.ts";
import type { TfliteTensor } from "../model.ts";

describe("quantisation", () => {
  const q = (type: TfliteTensor["type"], scale: number, zeroPoint: number) => {
    const x = { type, shape: [2], scale, zeroPoint } as const;
    return oneOperator("MAXIMUM", { a: x, b: x }, { y: x });
  };

  test.each([
    ["UINT8", 0],
    ["UINT8", 255],
    ["INT8", -128],
    ["INT8", 127],
  ] as const)("%s with zero point %d", (type, zeroPoint) => {
    expect(importLines(q(type, 0.5, zeroPoint))).toEqual(["MAXIMUM(in0, in1) -> out0"]);
  });

  test.each([
    ["UINT8", 0.5, -1, "the zero point -1 of a TENSOR_QUANT8_ASYMM is not within 0 to 255"],
    ["UINT8", 0.5, 256, "the zero point 256"],
    ["INT8", 0.5, -129, "the zero point -129"],
    ["INT8", 0.5, 128, "the zero point 128 of a TENSOR_QUANT8_ASYMM_SIGNED is not within -128 to 127"],
    ["INT16", 0.5, 1, "the zero point 1 of a TENSOR_QUANT16_SYMM is not within 0 to 0"],
    ["INT8", -1, 0, "the scale -1 is not above 0"],
    ["INT8", Number.NaN, 0, "the scale NaN is not above 0"],
    ["INT8", Number.POSITIVE_INFINITY, 0, "the scale Infinity is not above 0"],
  ] as const)("%s with scale %d and zero point %d is refused", (type, scale, zeroPoint, message) => {
    expect(problemOf(q(type, scale, zeroPoint))).toContain(message);
  });
});
