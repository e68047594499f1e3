import { describe, expect, it } from "vitest";
import { tfliteTypes } from "./tflite-types.ts";

describe("the quantisation of TENSOR_QUANT16_ASYMM_SIGNED", () => {
  const { params } = tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED;
  if (params === undefined) throw new TypeError("the type has data of its own");
  const { decode, encode } = params;

  it.each([
    [0.5, -32768],
    [2 ** -1000, 32767],
    [3, 0],
  ])("is data of the operand: scale %d, zero point %d", (scale, zeroPoint) => {
    expect(decode(encode({ scale, zeroPoint }))).toEqual({ scale, zeroPoint });
  });

  it.each([
    [encode({ scale: 1, zeroPoint: 0 }).subarray(1), "expected 12 bytes of data, got 11"],
    [new Uint8Array(0), "expected 12 bytes of data, got 0"],
    [encode({ scale: 0, zeroPoint: 0 }), "the scale: expected a positive number, got 0"],
    [encode({ scale: -1, zeroPoint: 0 }), "the scale: expected a positive number, got -1"],
    [encode({ scale: Number.POSITIVE_INFINITY, zeroPoint: 0 }), "the scale: expected a positive number, got Infinity"],
    [encode({ scale: 1, zeroPoint: -32769 }), "the zero point: expected an integer within [-32768, 32767], got -32769"],
    [encode({ scale: 1, zeroPoint: 32768 }), "the zero point: expected an integer within [-32768, 32767], got 32768"],
  ])("is refused if it is not valid (%#)", (data, message) => {
    expect(() => decode(data)).toThrow(message);
  });
});
