import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { calibrate, greatest } from "./calibrate.ts";
import { matrixProduct } from "./onnx-product.ts";
import { createPeakLoops } from "./peak-loops.ts";

describe("the loops of arithmetic", () => {
  const loops = createPeakLoops();

  /** The exclusive or of eight numbers after some steps. */
  const after = (passes: number, step: (value: number) => number, bits: (value: number) => number) => {
    let all = 0;
    for (let seed = 1; seed <= 8; seed++) {
      let value = seed;
      for (let pass = 0; pass < passes; pass++) value = step(value);
      all ^= bits(value);
    }
    return all;
  };

  it.each([1, 2, 5])("compute in %i passes what the same steps compute in JavaScript", (passes) => {
    const half = (value: number) => Math.fround(Math.fround(value * 0.5) + 1);
    const bits = (value: number) => new Int32Array(Float32Array.of(value).buffer)[0] ?? 0;
    expect(loops?.float(passes)).toBe(after(passes, half, bits));
    // The product is that of the lower 16 bits, since the upper half of the factor is 0.
    const triple = (value: number) => ((value << 16) >> 16) * 3 + 5;
    expect(loops?.integer(passes)).toBe(after(passes, triple, (value) => value));
  });
});

describe("the product of matrices", () => {
  it.each([
    ["float", new Tensor("float32", Float32Array.from([1, 2, 3, 4]), [2, 2])],
    ["integer", new Tensor("uint8", Uint8Array.from([1, 2, 3, 4]), [2, 2])],
  ] as const)("is a model of %s that onnxruntime computes", async (arithmetic, a) => {
    const session = await InferenceSession.create(matrixProduct(arithmetic, 2));
    const { c } = await session.run({ a });
    expect([...(c?.data ?? [])]).toEqual([3, 3, 7, 7]);
    await session.release();
  });
});

describe("calibrate", () => {
  it("finds rates in operations for each nanosecond of the clock", async () => {
    let time = 0;
    const peaks = await calibrate(1, () => ++time);
    // Each run takes 1 ms by this clock.
    expect(peaks[0]).toMatchObject({ threads: 1, float: (64 * 2 ** 19) / 1e6, integer: (128 * 2 ** 19) / 1e6 });
    expect(peaks[1]).toMatchObject({ threads: 1, float: (2 * 512 ** 3) / 1e6, integer: (2 * 1024 ** 3) / 1e6 });
  });
});

describe("greatest", () => {
  const peak = { how: "", threads: 1 };

  it("is the greatest that is known", () => {
    const peaks = [
      { ...peak, float: 3, integer: null },
      { ...peak, float: 2, integer: 9 },
    ];
    expect(greatest(peaks, "float")).toBe(3);
    expect(greatest(peaks, "integer")).toBe(9);
    expect(greatest(peaks.slice(0, 1), "integer")).toBeUndefined();
  });
});
