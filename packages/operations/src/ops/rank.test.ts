/**
 * RANK: a scalar out of any tensor.
 */
import { describe, expect, it } from "vitest";
import {
  declareOutput,
  f32,
  i32,
  mismatchOf,
  q8,
  q8PerChannel,
  runForOne,
  tensorOf,
  valuesOf,
} from "./_run.test-helper.ts";
import { expectTypes } from "./_signature.test-helper.ts";
import { rank } from "./rank.ts";

const scalar = declareOutput("INT32");

describe("RANK", () => {
  it("counts dimensions", () => {
    for (const [input, count] of [
      [f32([3]), 1],
      [i32([1, 1, 1, 1, 1]), 5],
      [q8([2, 0, 3], 0.5, 1), 3],
      [q8PerChannel([2, 1], [1, 2], 0), 2],
    ] as const) {
      const output = runForOne(rank, [input], scalar);
      expect(output).toMatchObject({ type: "INT32", dimensions: [] });
      expect(valuesOf(output)).toEqual([count]);
    }
  });

  it("takes any tensor but the OEM's, and returns a scalar", () => {
    const types = [
      ...(["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_INT32", "TENSOR_BOOL8", "TENSOR_QUANT8_ASYMM"] as const),
      ...(["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_SYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"] as const),
      ...(["TENSOR_QUANT16_ASYMM", "TENSOR_QUANT16_SYMM"] as const),
    ];
    expectTypes(
      rank,
      Object.fromEntries(types.map((type) => [type, "1.3"])),
      (type) => [tensorOf(type, [1])],
      () => [scalar],
    );
    const tensor = { outputs: [declareOutput("TENSOR_INT32")] };
    expect(mismatchOf(rank, [f32([1])], tensor)).toContain("output 0 (output): expected INT32, got TENSOR_INT32");
  });
});
