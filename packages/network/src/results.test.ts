/** The outputs of a run, by name. */
import { describe, expect, it } from "vitest";
import type { NumericType } from "./elements.ts";
import { type Outputs, outputsOf, tensorOf } from "./results.ts";
import type { NumericInfo } from "./tensor-info.ts";

const quantization = { scale: 0.5, zeroPoint: 1 };

/** The outputs of a run whose only one has the elements 1, 2 and 3. */
function outputsWith(type: NumericType, bytes: Uint8Array, { raw = false, name = "out", isQuantized = false } = {}) {
  const info: NumericInfo = {
    ...{ name, type, shape: [1, 3], otherNames: [] },
    ...(isQuantized && { quantization }),
  };
  return outputsOf([info], [tensorOf(info, { bytes, shape: [1, 3] }, raw, undefined)], raw);
}

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer);
const given = {
  float32: bytesOf(Float32Array.of(1, 2, 3)),
  float64: bytesOf(Float64Array.of(1, 2, 3)),
  int32: bytesOf(Int32Array.of(1, 2, 3)),
  int64: bytesOf(BigInt64Array.of(1n, 2n, 3n)),
  uint8: Uint8Array.of(1, 2, 3),
} as const;

describe("scores", () => {
  it.each(["float32", "float64", "int32", "int64", "uint8"] as const)("of %s are a Float32Array", (type) => {
    const { scores, output } = outputsWith(type, given[type]);
    expect(scores.data).toEqual(Float32Array.of(1, 2, 3));
    expect([...output.data].map(Number)).toEqual([1, 2, 3]);
    expect(output.data instanceof Float32Array).toBe(type === "float32");
  });

  it("that are quantised are real numbers", () => {
    expect(outputsWith("uint8", given.uint8, { isQuantized: true }).scores.data).toEqual(Float32Array.of(0, 0.5, 1));
  });

  it("are elements if these are wanted", () => {
    expect(outputsWith("uint8", given.uint8, { raw: true }).scores.data).toEqual(Uint8Array.of(1, 2, 3));
  });

  it("may be the output's own name", () => {
    const outputs = outputsWith("int32", given.int32, { name: "scores" });
    expect(Object.keys(outputs)).toEqual(["scores"]);
    expect(outputs.scores.data).toEqual(Float32Array.of(1, 2, 3));
  });

  it("need no cast", () => {
    // As `run` returns them without `raw`.
    const { scores }: Pick<Outputs, "scores"> = outputsWith("float32", given.float32) as Outputs;
    const data: Float32Array = scores.data;
    expect(data).toHaveLength(3);
  });
});
