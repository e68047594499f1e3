import { expect, it } from "vitest";
import { fixedOutputQuantisation } from "./_fixed-quantisation.ts";

it("moves the zero point by 128 for the signed type; floats have none", () => {
  expect(fixedOutputQuantisation("TENSOR_QUANT8_ASYMM", 1 / 256, 0)).toEqual({ scale: 1 / 256, zeroPoint: 0 });
  expect(fixedOutputQuantisation("TENSOR_QUANT8_ASYMM", 1 / 128, 128)).toEqual({ scale: 1 / 128, zeroPoint: 128 });
  expect(fixedOutputQuantisation("TENSOR_QUANT8_ASYMM_SIGNED", 1 / 256, 0)).toEqual({
    scale: 1 / 256,
    zeroPoint: -128,
  });
  expect(fixedOutputQuantisation("TENSOR_QUANT8_ASYMM_SIGNED", 1 / 128, 128)).toEqual({ scale: 1 / 128, zeroPoint: 0 });
  expect(fixedOutputQuantisation("TENSOR_FLOAT32", 1 / 128, 128)).toEqual({ scale: 0, zeroPoint: 0 });
  expect(fixedOutputQuantisation("TENSOR_FLOAT16", 1 / 128, 128)).toEqual({ scale: 0, zeroPoint: 0 });
});
