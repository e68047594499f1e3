import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyOperandType } from "../operand-type.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { bool, type GivenInput, int32, omit, runOperation } from "./_run.tflite.test-helper.ts";

const { TENSOR_INT64 } = tfliteTypes;
const VALID = int32(2);
const SAME = int32(1);
const one = int32(1);
const none = int32(0);

const int16 = (dimensions: number[], values: number[], scale = 1): GivenInput => ({
  type: "TENSOR_QUANT16_SYMM",
  dimensions,
  data: Int16Array.from(values),
  scale,
});
const int8 = (dimensions: number[], values: number[], scale = 1, zeroPoint = 0): GivenInput => ({
  type: "TENSOR_QUANT8_ASYMM_SIGNED",
  dimensions,
  data: Int8Array.from(values),
  scale,
  zeroPoint,
  isConstant: true,
});
const perChannel = (dimensions: number[], values: number[], scales: number[], channelDim = 0): GivenInput => ({
  type: "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  dimensions,
  data: Int8Array.from(values),
  channelQuant: { scales, channelDim },
  isConstant: true,
});
const int64 = (...values: bigint[]): GivenInput => ({
  type: TENSOR_INT64,
  dimensions: [values.length],
  data: BigInt64Array.from(values),
  isConstant: true,
});
const float = (dimensions: number[], values: number[]): GivenInput => ({
  type: "TENSOR_FLOAT32",
  dimensions,
  data: Float32Array.from(values),
});
const shape = (...values: number[]): GivenInput => ({
  type: "TENSOR_INT32",
  dimensions: [values.length],
  data: Int32Array.from(values),
});
const wide = (scale: number, type: AnyOperandType = "TENSOR_QUANT16_SYMM") => [{ type, scale }];
const real = [{ type: "TENSOR_FLOAT32" as const }];

describe("CONV_2D", () => {
  it("sums 16-bit elements exactly, beyond 32 bits, and rounds once", async () => {
    const depth = 700;
    const input = int16([1, 1, 1, depth], new Array(depth).fill(32767));
    const filter = int8([1, 1, 1, depth], new Array(depth).fill(127));
    // 700 * 32767 * 127 = 2912986300 is more than 31 bits hold; with the bias it is 1000 and a half steps of the result.
    const scale = 2 ** 22;
    const bias = int64(BigInt(1000.5 * scale - depth * 32767 * 127));
    const [{ data }] = await runOperation("CONV_2D", [input, filter, bias, VALID, one, one, none], wide(scale));
    expect([...data]).toEqual([1001]);
  });

  it("takes a bias of INT32, a scale for each filter, and the bounds of an activation", async () => {
    const input = int16([1, 1, 2, 1], [100, -100], 0.5);
    const bias: GivenInput = { type: "TENSOR_INT32", dimensions: [2], data: Int32Array.of(1, -2), isConstant: true };
    const filter = perChannel([2, 1, 1, 1], [3, 4], [0.5, 2]);
    const run = (activation: number) =>
      runOperation("CONV_2D", [input, filter, bias, VALID, one, one, int32(activation)], wide(0.25));
    // Channel 0: (±300 + 1) * 0.25 / 0.25; channel 1: (±400 - 2) * 1 / 0.25.
    expect((await run(0))[0]).toEqual({ dimensions: [1, 1, 2, 2], data: Int16Array.of(301, 1592, -299, -1608) });
    expect((await run(3))[0].data).toEqual(Int16Array.of(24, 24, 0, 0));
  });

  it("clamps to the type's bounds", async () => {
    const inputs = [int16([1, 1, 2, 1], [32767, -32768]), int8([1, 1, 1, 1], [2]), omit(TENSOR_INT64)];
    const [{ data }] = await runOperation("CONV_2D", [...inputs, VALID, one, one, none], wide(1));
    expect([...data]).toEqual([32767, -32768]);
  });

  it("takes 8-bit weights with a zero point, and a bias whose scale is another", async () => {
    const input: GivenInput = { ...int8([1, 1, 1, 2], [10, 20], 0.5, 2), isConstant: false };
    const filter = int8([1, 1, 1, 2], [3, 4], 0.5, 1);
    const bias: GivenInput = { ...shape(4), scale: 7, isConstant: true };
    const output = { type: "TENSOR_QUANT8_ASYMM_SIGNED" as const, scale: 1, zeroPoint: -5 };
    const [{ data }] = await runOperation("CONV_2D", [input, filter, bias, VALID, one, one, none], [output]);
    // (8 * 2 + 18 * 3 + 4) / 4 = 18.5
    expect([...data]).toEqual([14]);
  });

  it("convolves groups with dilations", async () => {
    const input = float([1, 1, 3, 2], [1, 10, 2, 20, 3, 30]);
    const filter = float([2, 1, 2, 1], [1, 2, 3, 4]);
    const operands = [input, filter, omit(), VALID, one, one, none, bool(false), int32(2), one];
    const [result] = await runOperation("CONV_2D", operands, real);
    expect(result).toEqual({ dimensions: [1, 1, 1, 2], data: Float32Array.of(1 + 6, 30 + 120) });
  });

  it("quantises float inputs around 0 if the filters have one scale", async () => {
    // Range 12.7: steps of 0.1.
    const input = float([2, 1, 1, 2], [12.7, -0.06, 127, 5.4]);
    const filter = int8([1, 1, 1, 2], [2, 10], 0.5);
    const operands = [input, filter, float([1], [100]), VALID, one, one, none];
    const [{ data }] = await runOperation("CONV_2D", operands, real);
    const scales = [12.7, 127].map((range) => Math.fround(Math.fround(range) / 127));
    expect(data[0]).toBeCloseTo((127 * 2 - 1 * 10) * scales[0] * 0.5 + 100, 4);
    expect(data[1]).toBeCloseTo((127 * 2 + 5 * 10) * scales[1] * 0.5 + 100, 4);
  });

  it("quantises float inputs with a zero point if the filters' scales differ", async () => {
    // Range [0, 25.5]: steps of 0.1, and 0 is -128.
    const input = float([1, 1, 1, 2], [25.5, 0.26]);
    const filter = perChannel([2, 1, 1, 2], [1, 0, 0, 10], [1, 0.5]);
    const [{ data }] = await runOperation("CONV_2D", [input, filter, omit(), VALID, one, one, none], real);
    expect(data[0]).toBeCloseTo(25.5, 4);
    expect(data[1]).toBeCloseTo(3 * 10 * 0.1 * 0.5, 4);
  });

  it("refuses filters of another depth, a bias of another length, scales along another dimension", async () => {
    const run = (filter: GivenInput, bias: GivenInput) =>
      runOperation(
        "CONV_2D",
        [int16([1, 1, 1, 3], [1, 2, 3]), filter, bias, VALID, one, one, none],
        [{ type: "TENSOR_QUANT16_SYMM", dimensions: [1, 1, 1, 2], scale: 1 }],
      );
    const filter = int8([2, 1, 1, 3], [1, 2, 3, 4, 5, 6]);
    expect((await run(filter, int64(0n, 0n)))[0].data).toEqual(Int16Array.of(14, 32));
    await expect(run(int8([2, 1, 1, 2], [1, 2, 3, 4]), int64(0n, 0n))).rejects.toThrow(
      "3 input channels and 2 filters do not divide into groups with filters of 2 channels",
    );
    await expect(run(filter, int64(0n))).rejects.toThrow("the bias: expected 2 elements (one for each channel), got 1");
    await expect(run(perChannel([2, 1, 1, 3], [1, 2, 3, 4, 5, 6], [1, 1, 1], 3), int64(0n, 0n))).rejects.toThrow(
      "the filter's scales: expected dimension 0, got 3",
    );
  });

  it("scales sums of 48 bits exactly", async () => {
    // The multiplier is 20973 / 2^46. The product of this sum is one less than the first that is rounded up.
    const upper = 20973n;
    const [half, divisor] = [2n ** 45n, 2n ** 46n];
    const least = Array.from({ length: Number(upper) }, (_, k) => BigInt(k + 1) * divisor - 1n - half).find(
      (product) => product % upper === 0n,
    );
    const sum = (least ?? 0n) / upper;
    expect(Number(sum)).toBeGreaterThan(2 ** 40);
    const run = async (bias: bigint) => {
      const input = int16([1, 1, 1, 1], [0], Number(upper) / 2 ** 15);
      const operands = [input, int8([1, 1, 1, 1], [1]), int64(bias), VALID, one, one, none];
      return (await runOperation("CONV_2D", operands, wide(2 ** 31)))[0].data[0];
    };
    const below = Number((sum * upper + half) / divisor);
    expect([await run(sum), await run(sum + 1n)]).toEqual([below, below + 1]);
    // Halves go up.
    expect([await run(0n), await run(-sum - 1n), await run(-sum)]).toEqual([0, -below - 1, -below]);
  });

  it("agrees with the sum of products, property", async () => {
    const value = fc.integer({ min: -32768, max: 32767 });
    const weight = fc.integer({ min: -127, max: 127 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { minLength: 18, maxLength: 18 }),
        fc.array(weight, { minLength: 16, maxLength: 16 }),
        fc.boolean(),
        fc.boolean(),
        async (values, weights, same, wideBias) => {
          const scale = 400;
          const bias: GivenInput = {
            type: "TENSOR_INT32",
            dimensions: [2],
            data: Int32Array.of(5, -7),
            isConstant: true,
          };
          const given = wideBias ? int64(5n, -7n) : bias;
          const operands = [int16([1, 3, 3, 2], values), int8([2, 2, 2, 2], weights), given];
          const [{ dimensions, data }] = await runOperation(
            "CONV_2D",
            [...operands, same ? SAME : VALID, one, one, none],
            wide(scale),
          );
          const size = same ? 3 : 2;
          expect(dimensions).toEqual([1, size, size, 2]);
          for (let y = 0; y < size; y++) {
            for (let x = 0; x < size; x++) {
              for (let o = 0; o < 2; o++) {
                let sum = [5, -7][o];
                for (let i = 0; i < 2; i++) {
                  for (let j = 0; j < 2; j++) {
                    for (let c = 0; c < 2; c++) {
                      const inside = y + i < 3 && x + j < 3;
                      if (inside) sum += values[((y + i) * 3 + x + j) * 2 + c] * weights[((o * 2 + i) * 2 + j) * 2 + c];
                    }
                  }
                }
                // 1 / 400 = 20971.52 / 2^23: with an INT64 bias, .tflite multiplies by 16 bits of it, and rounds halves up.
                const wanted = wideBias
                  ? Number((BigInt(sum) * 20972n + 2n ** 22n) >> 23n)
                  : Math.sign(sum) * Math.round(Math.abs(sum) / scale);
                expect(data[(y * size + x) * 2 + o]).toBe(Math.max(-32768, Math.min(32767, wanted)) + 0);
              }
            }
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("DEPTHWISE_CONV_2D", () => {
  it("takes INT16 with a scale for each channel", async () => {
    const input = int16([1, 1, 2, 2], [100, 200, -300, 400]);
    const filter = perChannel([1, 1, 1, 4], [1, 2, 3, 4], [1, 1, 1, 0.5], 3);
    const operands = [input, filter, int64(1n, 0n, 0n, 8n), VALID, one, one, int32(2), none];
    const [result] = await runOperation("DEPTHWISE_CONV_2D", operands, wide(1));
    expect(result).toEqual({
      dimensions: [1, 1, 2, 4],
      data: Int16Array.of(101, 200, 600, 404, -299, -600, 1200, 804),
    });
  });

  it("quantises float inputs, each image by itself", async () => {
    const input = float([2, 1, 1, 1], [0.3, 51]);
    const filter = perChannel([1, 1, 1, 1], [10], [0.5], 3);
    const operands = [input, filter, float([1], [-1]), VALID, one, one, one, none];
    const [{ data }] = await runOperation("DEPTHWISE_CONV_2D", operands, real);
    expect(data[0]).toBeCloseTo(0.5, 5);
    expect(data[1]).toBeCloseTo(254, 3);
  });

  it("refuses a filter of other channels", async () => {
    const operands = [int16([1, 1, 1, 2], [1, 2]), int8([1, 1, 1, 3], [1, 2, 3]), int64(0n, 0n, 0n)];
    const run = runOperation("DEPTHWISE_CONV_2D", [...operands, VALID, one, one, one, none], wide(1));
    await expect(run).rejects.toThrow("the filter: expected 2 input channels * depth multiplier 1, got 3");
    const two = [int16([1, 1, 1, 1], [1]), int8([2, 1, 1, 1], [1, 2]), int64(0n), VALID, one, one, one, none];
    await expect(runOperation("DEPTHWISE_CONV_2D", two, wide(1))).rejects.toThrow(
      "the filter's first extent: expected 1, got 2",
    );
  });
});

describe("TRANSPOSE_CONV_2D", () => {
  const filter = int8([1, 1, 2, 1], [1, 10]);
  const run = (outputShape: GivenInput, scheme: GivenInput) =>
    runOperation(
      "TRANSPOSE_CONV_2D",
      [int16([1, 1, 2, 1], [3, 5]), filter, int64(100n), outputShape, scheme, int32(2), one, none, bool(false)],
      wide(1),
    );

  it("spreads 16-bit elements", async () => {
    expect((await run(shape(1, 1, 4, 1), VALID))[0]).toEqual({
      dimensions: [1, 1, 4, 1],
      data: Int16Array.of(103, 130, 105, 150),
    });
  });

  it("leaves out what lies beyond the output shape, and fills up with the bias", async () => {
    expect((await run(shape(1, 1, 3, 1), VALID))[0].data).toEqual(Int16Array.of(103, 130, 105));
    expect((await run(shape(1, 2, 5, 1), VALID))[0].data).toEqual(
      Int16Array.of(103, 130, 105, 150, 100, 100, 100, 100, 100, 100),
    );
  });

  it("refuses an output shape of other batches or channels, or without extent", async () => {
    await expect(run(shape(2, 1, 4, 1), VALID)).rejects.toThrow(
      "the output shape: expected 1 batches and 1 channels, got 2 and 1",
    );
    await expect(run(shape(1, 1, 0, 1), SAME)).rejects.toThrow("the output's width is 0, less than 1");
    await expect(run(shape(1, 1, 4), VALID)).rejects.toThrow("the output shape: expected 4 elements, got 3");
  });
});

describe("FULLY_CONNECTED", () => {
  const input = int16([1, 2, 2], [1, 2, 3, 4]);
  const weights = perChannel([3, 2], [1, 0, 0, 1, 1, 1], [1, 1, 10]);

  it("takes INT16 with a scale for each unit, and keeps dimensions if asked to", async () => {
    const operands = [input, weights, int64(0n, 5n, 0n), none];
    const data = Int16Array.of(1, 7, 30, 3, 9, 70);
    expect(await runOperation("FULLY_CONNECTED", operands, wide(1))).toEqual([{ dimensions: [2, 3], data }]);
    expect(await runOperation("FULLY_CONNECTED", [...operands, bool(true)], wide(1))).toEqual([
      { dimensions: [1, 2, 3], data },
    ]);
  });

  it("takes inputs of rank 1, and returns INT16 of 8-bit inputs", async () => {
    const operands = [{ ...int8([2], [100, 101], 1, 1), isConstant: false }, int8([1, 2], [100, 100]), omit(), none];
    operands[2] = omit("TENSOR_INT32");
    expect(await runOperation("FULLY_CONNECTED", operands, wide(1))).toEqual([
      { dimensions: [1, 1], data: Int16Array.of(19900) },
    ]);
  });

  it("takes weights in blocks with a scale each", async () => {
    // The input's step is 0.1: no difference.
    const rows = float([1, 4], [12.7, -12.8, 0, 1]);
    const weights4 = int8([2, 4], [1, 2, 3, 4, -1, 0, 5, -6]);
    const blocked = (scales: GivenInput) => [rows, weights4, omit(), none, bool(false), bool(true), scales];
    const declared = [{ type: "TENSOR_FLOAT32" }] as const;
    const scales = float([2, 2], [1, 0.5, 2, 10]);
    const [result] = await runOperation("FULLY_CONNECTED", blocked(scales), declared);
    expect(result?.data[0]).toBeCloseTo(12.7 - 2 * 12.8 + 2, 4);
    expect(result?.data[1]).toBeCloseTo(-2 * 12.7 - 60, 4);
    for (const shape of [[2, 3], [1, 4], [4]]) {
      const wrong = float(shape, new Array<number>(shape.reduce((a, b) => a * b)).fill(1));
      await expect(runOperation("FULLY_CONNECTED", blocked(wrong), declared)).rejects.toThrow("into blocks");
    }
    const shifted = blocked(scales).with(1, { ...weights4, zeroPoint: 1 });
    await expect(runOperation("FULLY_CONNECTED", shifted, declared)).rejects.toThrow(
      "signed weights with zero point 0",
    );
  });

  it("quantises each row of float inputs, with or without a zero point", async () => {
    const rows = float([2, 2], [25.5, 0.26, 0, 0]);
    const run = (asymmetric: boolean) =>
      runOperation(
        "FULLY_CONNECTED",
        [rows, int8([1, 2], [0, 10], 0.5), float([1], [1]), none, bool(false), bool(asymmetric)],
        real,
      );
    const [symmetric] = await run(false);
    // Steps of 25.5 / 127 = 0.2008: 0.26 is one step.
    expect(symmetric.data[0]).toBeCloseTo(1 + 10 * 0.5 * (25.5 / 127), 4);
    expect(symmetric.data[1]).toBe(1);
    const [asymmetric] = await run(true);
    expect(asymmetric.data[0]).toBeCloseTo(1 + 10 * 0.5 * 0.3, 4);
    expect(asymmetric.data[1]).toBe(1);
  });

  it("reads UINT8 weights of a float layer as signed bytes", async () => {
    const bytes: GivenInput = {
      type: "TENSOR_QUANT8_ASYMM",
      dimensions: [1, 1],
      data: Uint8Array.of(256 - 3),
      scale: 0.5,
      zeroPoint: 7,
      isConstant: true,
    };
    const [{ data }] = await runOperation("FULLY_CONNECTED", [float([1, 1], [127]), bytes, omit(), none], real);
    expect(data[0]).toBeCloseTo(-3 * 0.5 * 127, 3);
  });

  it("refuses inputs that are not made of rows, and a last extent that is not the weights'", async () => {
    const wrong = int16([1, 3], [1, 2, 3]);
    const rest = [weights, int64(0n, 0n, 0n), none];
    await expect(runOperation("FULLY_CONNECTED", [wrong, ...rest], wide(1))).rejects.toThrow(
      "the input has shape 1x3, which is not made of rows of 2",
    );
    const flat = int16([4], [1, 2, 3, 4]);
    await expect(runOperation("FULLY_CONNECTED", [flat, ...rest, bool(true)], wide(1))).rejects.toThrow(
      "the input's last extent: expected 2 to keep the number of dimensions, got 4",
    );
  });

  it("refuses weights without units or without inputs", async () => {
    const run = (dimensions: number[]) => {
      const empty = { ...int8(dimensions, []), isConstant: false };
      return runOperation("FULLY_CONNECTED", [int16([1, 2], [1, 2]), empty, omit(TENSOR_INT64), none], wide(1));
    };
    await expect(run([0, 2])).rejects.toThrow("the filter has no output channels");
    await expect(run([2, 0])).rejects.toThrow("the weights have no inputs");
  });
});
