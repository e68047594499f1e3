import { describe, expect, it } from "vitest";
import { channelsOf } from "./_channels.tflite.ts";
import { bool, float32, int32, runOperation } from "./_run.tflite.test-helper.ts";
import { elements, giveTensor, greatestDifference, of, quantise, spread } from "./_tensors.tflite.test-helper.ts";

describe("QUANTIZE", () => {
  it("rounds halves away from 0 and clamps", async () => {
    const floats = giveTensor(of("float32"), [0.25, -0.25, 0.2, 20000, -20000]);
    expect(await elements("QUANTIZE", [floats], of("int16", 0.5))).toEqual([1, -1, 0, 32767, -32768]);
  });

  it.each([
    ["uint8", "uint8"],
    ["uint8", "int8"],
    ["uint8", "int16"],
    ["int8", "uint8"],
    ["int8", "int8"],
    ["int8", "int16"],
    ["int16", "int8"],
    ["int16", "int16"],
  ] as const)("from %s to %s in one step", async (from, to) => {
    const zeroOf = { uint8: 130, int8: -5, int16: 0 };
    const [input, output] = [of(from, 0.03, zeroOf[from]), of(to, 0.041, zeroOf[to])];
    const values = from === "uint8" ? spread(0, 255, 60) : spread(-128, 127, 60);
    expect(await elements("QUANTIZE", [giveTensor(input, values)], output)).toEqual(
      values.map((value) => quantise((value - zeroOf[from]) * 0.03, output)),
    );
  });

  it("from and to 32-bit integers with a scale", async () => {
    const wide = { type: "TENSOR_INT32", scale: 0.001 } as const;
    expect(await elements("QUANTIZE", [giveTensor(wide, [1500, -2499, 10 ** 9])], of("int8", 0.5, 1))).toEqual([
      4, -4, 127,
    ]);
    expect(await elements("QUANTIZE", [giveTensor(of("int16", 0.5), [3, -32768])], wide)).toEqual([1500, -16384000]);
    await expect(elements("QUANTIZE", [giveTensor(of("int32"), [1])], of("int8"))).rejects.toThrow(
      "the input: expected a scale > 0, got TENSOR_INT32 of scale 0",
    );
  });

  it("refuses combinations that the operator lacks", async () => {
    await expect(elements("QUANTIZE", [giveTensor(of("int32"), [1])], of("uint8"))).rejects.toThrow("QUANTIZE");
    await expect(elements("QUANTIZE", [giveTensor(of("int64"), [1])], of("int8"))).rejects.toThrow("QUANTIZE");
  });
});

describe("DEQUANTIZE", () => {
  it("of 16-bit elements and of more than 4 axes", async () => {
    expect(await elements("DEQUANTIZE", [giveTensor(of("int16", 0.5), [-3, 4])], of("float32"))).toEqual([-1.5, 2]);
    const deep = giveTensor(of("uint8", 0.5, 3), [3, 5], [1, 1, 1, 2, 1]);
    expect(await runOperation("DEQUANTIZE", [deep], [of("float32")])).toEqual([
      { dimensions: [1, 1, 1, 2, 1], data: Float32Array.of(0, 1) },
    ]);
  });

  it("of channels with a scale of their own", async () => {
    const input = {
      type: "TENSOR_QUANT8_SYMM_PER_CHANNEL",
      dimensions: [2, 2, 1, 1, 2],
      data: Int8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
      channelQuant: { scales: [1, 10], channelDim: 1 },
      isConstant: true,
    } as const;
    expect(await elements("DEQUANTIZE", [input], of("float32"))).toEqual([1, 2, 30, 40, 5, 6, 70, 80]);
    // Extents that are unknown in the model are known at the execution only.
    const { dimensions, channelQuant } = input;
    const executed = {
      type: input.type,
      dimensions: [dimensions[0], 3, ...dimensions.slice(2)],
      scale: 0,
      zeroPoint: 0,
      channelQuant,
    };
    expect(() => channelsOf(executed)).toThrow("there are 2 scales where axis 1 has extent 3");
  });
});

describe("FAKE_QUANT", () => {
  const numbers = spread(-4000, 4000, 81).map((value) => value / 1000);
  const run = (min: number, max: number, bits: number, isNarrow = false) =>
    elements(
      "FAKE_QUANT",
      [giveTensor(of("float32"), numbers), float32(min), float32(max), int32(bits), bool(isNarrow)],
      of("float32"),
    );

  it("rounds to the nearest of the numbers between min and max, of which one is 0", async () => {
    // The step is 1: numbers 0 to 3.
    expect(await run(0, 3, 2)).toEqual(numbers.map((value) => Math.round(Math.min(Math.max(value, 0), 3))));
    // The zero point 1.5 is moved to 2, so the numbers are -2 to 1.
    const moved = numbers.map((value) => Math.round(Math.min(Math.max(value, -2), 1)));
    expect(greatestDifference(await run(-1.5, 1.5, 2), moved)).toBe(0);
  });

  it("is near to its input if bits are many", async () => {
    expect(greatestDifference(await run(-4, 4, 16), numbers)).toBeLessThan(1e-4);
  });

  it("refuses a narrow range, numbers of bits outside 2 to 16 and min that is not less than max", async () => {
    await expect(run(-1, 1, 8, true)).rejects.toThrow("narrowRange is true");
    await expect(run(-1, 1, 1)).rejects.toThrow("numBits is 1 where 2 to 16 are possible");
    await expect(run(-1, 1, 17)).rejects.toThrow("numBits is 17 where 2 to 16 are possible");
    await expect(run(1, 1, 8)).rejects.toThrow("min: expected a number less than max, 1, got 1");
  });
});
