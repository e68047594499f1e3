import type { TensorInfo } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { elementTable } from "./table.ts";

const info = (type: TensorInfo["type"], scale: number, zeroPoint: number): TensorInfo => ({
  ...{ type, dimensions: [3], scale, zeroPoint },
});

describe("elementTable", () => {
  it("has the result of each element, from the least one", () => {
    const input = info("TENSOR_QUANT8_ASYMM_SIGNED", 0.5, -1);
    const { least, results } = elementTable("RELU", { input }, input);
    expect(least).toBe(-128);
    expect([...results]).toEqual(Array.from({ length: 256 }, (_, place) => Math.max(-1, place - 128)));
  });

  it("changes a quantisation with ties away from 0", () => {
    const input = info("TENSOR_QUANT8_ASYMM", 1, 128);
    const { results } = elementTable("CONCATENATION", { inputs: [input], axis: 0 }, { ...input, scale: 2 });
    expect([...results.slice(124, 133)]).toEqual([126, 126, 127, 127, 128, 129, 129, 130, 130]);
  });

  it("throws as the reference does", () => {
    const input = info("TENSOR_QUANT8_ASYMM", 1, 0);
    expect(() => elementTable("HARD_SWISH", { input }, { ...input, scale: 1e-3 })).toThrow("more than 1/128");
  });
});
