import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { parseLabels, scoresOf, topClasses } from "./scores.ts";

function output(shape: readonly number[], type: OperandTypeName = "TENSOR_FLOAT32", bytes = new Uint8Array(0)) {
  return { info: { name: "", tensorType: "FLOAT32", type, shape, scale: 0, zeroPoint: 0 }, bytes } as const;
}

describe("scoresOf", () => {
  it("takes the first output of the shape [classes] or [1, classes]", () => {
    const right = output([1, 10]);
    expect(scoresOf([output([1, 4, 4, 2]), output([2, 10]), output([1]), output([1, 1]), right, output([10])])).toBe(
      right,
    );
    expect(scoresOf([output([10])])).toEqual(output([10]));
    expect(scoresOf([output([1, 10], "TENSOR_BOOL8")])).toBeUndefined();
    expect(scoresOf([])).toBeUndefined();
  });
});

describe("topClasses", () => {
  it("sorts by score, then by index, with NaN last", () => {
    const bytes = new Uint8Array(Float32Array.of(Number.NaN, 1, -2, 3, 1).buffer);
    const classes = topClasses(output([1, 5], "TENSOR_FLOAT32", bytes), 9, ["a", "b"]);
    expect(classes.map(({ index }) => index)).toEqual([3, 1, 4, 2, 0]);
    expect(classes[1]).toEqual({ index: 1, label: "b", score: 1 });
    expect(classes[2]).toEqual({ index: 4, label: null, score: 1 });
    expect(topClasses(output([1, 5], "TENSOR_FLOAT32", bytes), 2)).toHaveLength(2);
  });
});

describe("parseLabels", () => {
  it("takes one label a line, empty ones too", () => {
    expect(parseLabels("a\nb\n")).toEqual(["a", "b"]);
    expect(parseLabels("\ufeffa\r\n\r\nb")).toEqual(["a", "", "b"]);
    expect(parseLabels("")).toEqual([]);
  });
});
