import { FusedActivationFunc } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { activationRange, quantisedActivationRange } from "./activation.ts";
import type { TensorInfo } from "./tensor.ts";

const { NONE, RELU, RELU1, RELU6 } = FusedActivationFunc;

describe("activationRange", () => {
  it("returns real bounds", () => {
    expect(activationRange(NONE)).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect(activationRange(RELU)).toEqual([0, Number.POSITIVE_INFINITY]);
    expect(activationRange(RELU1)).toEqual([-1, 1]);
    expect(activationRange(RELU6)).toEqual([0, 6]);
  });

  it("knows no others", () => {
    expect(() => activationRange(-1)).toThrow("activation -1 is none of NONE 0, RELU 1, RELU1 2, RELU6 3");
    expect(() => activationRange(4)).toThrow("activation 4 is none of");
  });
});

describe("quantisedActivationRange", () => {
  const output = (type: TensorInfo["type"], scale: number, zeroPoint: number): TensorInfo => ({
    type,
    dimensions: [1],
    scale,
    zeroPoint,
  });
  const unsigned = output("TENSOR_QUANT8_ASYMM", 0.5, 100);
  const signed = output("TENSOR_QUANT8_ASYMM_SIGNED", 0.5, -28);

  it("returns bounds in the output's integers", () => {
    expect(quantisedActivationRange(NONE, unsigned)).toEqual([0, 255]);
    expect(quantisedActivationRange(RELU, unsigned)).toEqual([100, 255]);
    expect(quantisedActivationRange(RELU1, unsigned)).toEqual([98, 102]);
    expect(quantisedActivationRange(RELU6, unsigned)).toEqual([100, 112]);
    expect(quantisedActivationRange(NONE, signed)).toEqual([-128, 127]);
    expect(quantisedActivationRange(RELU6, signed)).toEqual([-28, -16]);
  });

  it("rounds bounds that lie between two integers, halves away from zero", () => {
    expect(quantisedActivationRange(RELU1, output("TENSOR_QUANT8_ASYMM", 0.4, 100))).toEqual([97, 103]);
    expect(quantisedActivationRange(RELU6, output("TENSOR_QUANT8_ASYMM", 4, 100))).toEqual([100, 102]);
  });

  it("stays within what the type can hold", () => {
    expect(quantisedActivationRange(RELU6, output("TENSOR_QUANT8_ASYMM", 0.01, 0))).toEqual([0, 255]);
    expect(quantisedActivationRange(RELU1, output("TENSOR_QUANT8_ASYMM", 0.5, 255))).toEqual([253, 255]);
    expect(quantisedActivationRange(RELU1, output("TENSOR_QUANT8_ASYMM", 0.5, 0))).toEqual([0, 2]);
  });
});
