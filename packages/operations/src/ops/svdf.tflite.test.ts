import { describe, expect, it } from "vitest";
import { bool, type GivenInput, int32, omit, runOperation } from "./_run.tflite.test-helper.ts";

const INT8 = "TENSOR_QUANT8_ASYMM_SIGNED";
const int8 = (dimensions: number[], values: number[], scale = 1, zeroPoint = 0): GivenInput => ({
  type: INT8,
  dimensions,
  data: Int8Array.from(values),
  scale,
  zeroPoint,
});
const int16 = (dimensions: number[], values: number[], scale = 1): GivenInput => ({
  type: "TENSOR_QUANT16_SYMM",
  dimensions,
  data: Int16Array.from(values),
  scale,
});
const bias = (...values: number[]): GivenInput => ({
  type: "TENSOR_INT32",
  dimensions: [values.length],
  data: Int32Array.from(values),
});
const float = (dimensions: number[], values: number[]): GivenInput => ({
  type: "TENSOR_FLOAT32",
  dimensions,
  data: Float32Array.from(values),
});
const options = (rank: number, activation = 0, asymmetric = false) => [
  int32(rank),
  int32(activation),
  bool(asymmetric),
];

describe("SVDF", () => {
  // Two units of rank 1 with a memory of 2.
  const input = int8([1, 2], [5, 7], 0.5, 1);
  const features = int8([2, 2], [1, 2, -3, 4], 0.5);
  const times = int8([2, 2], [1, 10, 2, -20], 0.25);
  const state = int8([1, 4], [99, 12, 99, -8], 1, 2);

  it("shifts the state, adds the newest result, and sums over time", async () => {
    // Newest: (4 + 12) * 0.25 + 2 = 6 and (-12 + 24) * 0.25 + 2 = 5; sums: 1 * 10 + 10 * 4 + 6 and 2 * -10 - 20 * 3 - 1.
    // Half of -81 is -40: .tflite's product of integers rounds halves up.
    const outputs = [
      { type: INT8, scale: 0.5, zeroPoint: -10 },
      { type: INT8, scale: 1, zeroPoint: 2 },
    ] as const;
    expect(await runOperation("SVDF", [input, features, times, bias(6, -1), state, ...options(1, 1)], outputs)).toEqual(
      [
        { dimensions: [1, 2], data: Int8Array.of(28 - 10, -40 - 10) },
        { dimensions: [1, 4], data: Int8Array.of(12, 6, -8, 5) },
      ],
    );
  });

  it("sums the filters of a unit, with a state of 16 bits and without bias", async () => {
    const outputs = [
      { type: INT8, scale: 2 },
      { type: "TENSOR_QUANT16_SYMM", scale: 0.25 },
    ] as const;
    const wide = int16([2, 2], [1, 10, 2, -20], 0.25);
    const memory = int16([1, 4], [99, 1000, 99, -1000], 0.25);
    const inputs = [input, features, wide, omit("TENSOR_INT32"), memory, ...options(2)];
    // Newest: 16 and 12. (1000 + 160 - 2000 - 240) * 0.0625 / 2 = -33.75.
    expect(await runOperation("SVDF", inputs, outputs)).toEqual([
      { dimensions: [1, 1], data: Int8Array.of(-34) },
      { dimensions: [1, 4], data: Int16Array.of(1000, 16, -1000, 12) },
    ]);
  });

  it.each([false, true])("quantises float inputs; asymmetric: %s", async (asymmetric) => {
    const outputs = [{ type: "TENSOR_FLOAT32" }, { type: "TENSOR_FLOAT32" }] as const;
    const inputs = [float([1, 2], [2, 0.5]), features, times, float([2], [1, -100]), float([1, 4], [9, 1, 9, 2])];
    const [output, next] = await runOperation("SVDF", [...inputs, ...options(1, 1, asymmetric)], outputs);
    const scale = asymmetric ? 2 / 255 : 2 / 127;
    const half = (asymmetric ? 64 : 32) * scale;
    const newest = [(2 + 2 * half) * 0.5, (-6 + 4 * half) * 0.5];
    [1, newest[0], 2, newest[1]].forEach((value, at) => {
      expect(next.data[at]).toBeCloseTo(value, 5);
    });
    expect(output.data[0]).toBeCloseTo(1 + 0.25 * 1 + 2.5 * newest[0], 5);
    expect(output.data[1]).toBe(0);
  });

  it("has the activation TANH in floats, with float weights and with 8-bit ones", async () => {
    const outputs = [{ type: "TENSOR_FLOAT32" }, { type: "TENSOR_FLOAT32" }] as const;
    const run = async (feature: GivenInput, time: GivenInput) =>
      runOperation(
        "SVDF",
        [float([1, 1], [1.27]), feature, time, float([1], [0.5]), float([1, 2], [9, 2]), ...options(1, 4)],
        outputs,
      );
    // State: 2 and 1.27 * 0.5; sum: 0.5 + 2 * 0.25 + 0.635 * 1.
    for (const weights of [
      [float([1, 1], [0.5]), float([1, 2], [0.25, 1])],
      [int8([1, 1], [2], 0.25), int8([1, 2], [1, 4], 0.25)],
    ] as const) {
      const [output, next] = await run(...weights);
      expect(output?.data[0]).toBeCloseTo(Math.tanh(1.635), 5);
      expect(next?.data[1]).toBeCloseTo(0.635, 5);
    }
  });

  it("refuses a rank that does not divide the filters, and states of another size", async () => {
    const outputs = [
      { type: INT8, scale: 1 },
      { type: INT8, scale: 1, zeroPoint: 2 },
    ] as const;
    const run = (rank: number, memory: GivenInput) =>
      runOperation("SVDF", [input, features, times, omit("TENSOR_INT32"), memory, ...options(rank)], outputs);
    await expect(run(0, state)).rejects.toThrow("2 filters are not a multiple of the rank 0");
    await expect(run(3, state)).rejects.toThrow("2 filters are not a multiple of the rank 3");
    const timeless = [input, features, int8([2, 0], []), omit("TENSOR_INT32"), int8([1, 0], [], 1, 2), ...options(1)];
    await expect(runOperation("SVDF", timeless, outputs)).rejects.toThrow("the time weights have no times");
    await expect(run(1, int8([1, 3], [1, 2, 3], 1, 2))).rejects.toThrow(
      "the shape of the state: expected 1x4, got 1x3",
    );
  });
});
