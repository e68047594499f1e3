import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bool, type GivenInput, runOperation } from "./_run.tflite.test-helper.ts";

const float = (dimensions: number[], values: number[]): GivenInput => ({
  type: "TENSOR_FLOAT32",
  dimensions,
  data: Float32Array.from(values),
});
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
const flags = (adjX = false, adjY = false, asymmetric = false) => [bool(adjX), bool(adjY), bool(asymmetric)];
const real = [{ type: "TENSOR_FLOAT32" }] as const;

describe("BATCH_MATMUL", () => {
  it("agrees with the sum of products for shapes that broadcast and for transposed matrices, property", async () => {
    const extent = fc.integer({ min: 1, max: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(extent, extent, extent, extent, extent),
        fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
        async ([b0, b1, rows, depth, columns], [adjX, adjY, one, short]) => {
          const xBatches = [b0, one ? 1 : b1];
          const yBatches = short ? [b1] : [1, b1];
          const x = { batches: xBatches, height: adjX ? depth : rows, width: adjX ? rows : depth };
          const y = { batches: yBatches, height: adjY ? columns : depth, width: adjY ? depth : columns };
          const tensorOf = ({ batches, height, width }: typeof x, seed: number) => {
            const dimensions = [...batches, height, width];
            const count = dimensions.reduce((product, each) => product * each, 1);
            return float(
              dimensions,
              Array.from({ length: count }, (_, at) => ((at * 7 + seed) % 11) - 5),
            );
          };
          const [left, right] = [tensorOf(x, 1), tensorOf(y, 4)];
          const [result] = await runOperation("BATCH_MATMUL", [left, right, ...flags(adjX, adjY)], real);
          expect(result.dimensions).toEqual([b0, b1, rows, columns]);
          let at = 0;
          for (let i = 0; i < b0; i++) {
            for (let j = 0; j < b1; j++) {
              const xBatch = one ? i : i * b1 + j;
              for (let row = 0; row < rows; row++) {
                for (let column = 0; column < columns; column++) {
                  let sum = 0;
                  for (let k = 0; k < depth; k++) {
                    const a = adjX ? k * rows + row : row * depth + k;
                    const b = adjY ? column * depth + k : k * columns + column;
                    sum += Number(left.data[xBatch * rows * depth + a]) * Number(right.data[j * depth * columns + b]);
                  }
                  expect(Number(result.data[at++]) - sum).toBe(0);
                }
              }
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("multiplies integers less their zero points, rounds once and clamps", async () => {
    const x = int8([1, 2], [10, -4], 0.5, 2);
    const y = int8([2, 2], [3, 100, 5, 0], 0.25, 1);
    const output = [{ type: INT8, scale: 0.5, zeroPoint: 3 }] as const;
    // 8 * 2 - 6 * 4 = -8 and 8 * 99 - 6 * -1 = 798 units of 0.125.
    expect(await runOperation("BATCH_MATMUL", [x, y, ...flags()], output)).toEqual([
      { dimensions: [1, 2], data: Int8Array.of(1, 127) },
    ]);
  });

  it("returns sums of elements as they are for INT32", async () => {
    const inputs = [int8([1, 2], [10, -4], 0.5, 2), int8([2, 1], [3, 5], 0.25, 1), ...flags()];
    expect(await runOperation("BATCH_MATMUL", inputs, [{ type: "TENSOR_INT32" }])).toEqual([
      { dimensions: [1, 1], data: Int32Array.of(10) },
    ]);
  });

  it("wraps at 32 bits", async () => {
    const int32s = (dimensions: number[], ...values: number[]): GivenInput => ({
      type: "TENSOR_INT32",
      dimensions,
      data: Int32Array.from(values),
    });
    const inputs = [int32s([1, 2], 0x7fff_ffff, 3), int32s([2, 1], 0x7fff_ffff, 5), ...flags()];
    // 2^62 - 2^32 + 1 + 15
    expect(await runOperation("BATCH_MATMUL", inputs, [{ type: "TENSOR_INT32" }])).toEqual([
      { dimensions: [1, 1], data: Int32Array.of(16) },
    ]);
  });

  it("scales sums of 16-bit elements by the upper 16 bits of the multiplier, halves up, as TensorFlow Lite does", async () => {
    const count = 9;
    const values = new Array(count).fill(32767);
    const product = async (scale: number, ...factors: number[]) => {
      const inputs = [int16([1, count], values), int16([count, 1], factors), ...flags()];
      const [{ data }] = await runOperation("BATCH_MATMUL", inputs, [{ type: "TENSOR_QUANT16_SYMM", scale }]);
      return data[0];
    };
    expect(await product(2 ** 19, ...values)).toBe(Math.round((count * 32767 ** 2) / 2 ** 19));
    // The multiplier is 1/3 in 15 bits, 21845.33 / 2^16, and becomes 21845: the result is 1 less than that of the real number.
    const sum = count * 32767 * 32767;
    const scale = 2 ** 18 * 1.5;
    expect(await product(scale, ...values)).toBe(Math.floor((sum * 21845) / 2 ** 33 + 0.5));
    // -1.5 and 1.5 steps.
    const inputs = [int16([1, 1], [16384]), int16([1, 2], [-3, 3]), ...flags()];
    const output = [{ type: "TENSOR_QUANT16_SYMM", scale: 2 ** 15 }] as const;
    const [{ data }] = await runOperation("BATCH_MATMUL", inputs, output);
    expect([...data]).toEqual([-1, 2]);
  });

  describe("with a scale for each column", () => {
    const columns = (dimensions: number[], values: number[], scales: number[], channelDim: number): GivenInput => ({
      type: "TENSOR_QUANT8_SYMM_PER_CHANNEL",
      dimensions,
      data: Int8Array.from(values),
      channelQuant: { scales, channelDim },
    });
    const plain = columns([2, 2], [1, 2, 3, 4], [0.5, 2], 1);
    const transposed = columns([2, 2], [1, 3, 2, 4], [0.5, 2], 0);
    const forms = [
      ["plain", plain, false],
      ["transposed", transposed, true],
    ] as const;

    it.each(forms)("multiplies INT16 elements; matrices that are %s", async (_, y, adjY) => {
      const inputs = [int16([1, 2], [10, 100]), y, ...flags(false, adjY)];
      const [{ data }] = await runOperation("BATCH_MATMUL", inputs, [{ type: "TENSOR_QUANT16_SYMM", scale: 0.5 }]);
      expect([...data]).toEqual([310, 4 * 420]);
    });

    it.each(forms)("multiplies INT8 elements; matrices that are %s", async (_, y, adjY) => {
      const inputs = [int8([1, 2], [11, 21], 1, 1), y, ...flags(false, adjY)];
      const output = [{ type: INT8, scale: 4, zeroPoint: -1 }] as const;
      const [{ data }] = await runOperation("BATCH_MATMUL", inputs, output);
      // (10 + 60) / 2 / 4, and (20 + 80) * 2 / 4.
      expect([...data]).toEqual([8, 49]);
    });

    it.each(forms)("multiplies float rows; matrices that are %s", async (_, y, adjY) => {
      const inputs = [float([1, 2], [127, 1]), y, ...flags(false, adjY)];
      const [{ data }] = await runOperation("BATCH_MATMUL", inputs, real);
      expect([...data]).toEqual([65, 516]);
    });

    it.each([
      ["rows", columns([2, 2], [1, 2, 3, 4], [0.5, 2], 0), false, 0, 1],
      ["rows of transposed matrices", columns([2, 2], [1, 2, 3, 4], [0.5, 2], 1), true, 1, 0],
    ] as const)("refuses scales of %s", async (_, y, adjY, given, expected) => {
      const inputs = [int16([1, 2], [1, 1]), y, ...flags(false, adjY)];
      await expect(runOperation("BATCH_MATMUL", inputs, [{ type: "TENSOR_QUANT16_SYMM", scale: 1 }])).rejects.toThrow(
        `the scales of y belong to dimension ${given}, expected ${expected}, that of the columns of its matrices`,
      );
    });
  });

  it("multiplies INT16 elements with INT8 ones that have one scale", async () => {
    const inputs = [int16([1, 2], [10, 100]), int8([2, 1], [1, 3], 0.25), ...flags()];
    const [{ data }] = await runOperation("BATCH_MATMUL", inputs, [{ type: "TENSOR_QUANT16_SYMM", scale: 0.5 }]);
    expect([...data]).toEqual([155]);
  });

  it.each([false, true])("quantises the rows of a float x; asymmetric: %s", async (asymmetric) => {
    const x = float([2, 2], [25.5, 0.26, 0, 0]);
    const [{ data }] = await runOperation(
      "BATCH_MATMUL",
      [x, int8([2, 1], [0, 10], 0.5), ...flags(false, false, asymmetric)],
      real,
    );
    expect(data[0]).toBeCloseTo(asymmetric ? 10 * 0.5 * 0.3 : 10 * 0.5 * (25.5 / 127), 4);
    expect(data[1]).toBe(0);
  });

  it("refuses matrices that do not fit, and batches that do not broadcast", async () => {
    const run = (...inputs: GivenInput[]) => runOperation("BATCH_MATMUL", [...inputs, ...flags()], real);
    await expect(run(float([1, 2], [1, 2]), float([1, 2], [1, 2]))).rejects.toThrow(
      "the matrices of x have 2 columns where those of y have 1 rows",
    );
    await expect(run(float([2, 1, 1], [1, 2]), float([3, 1, 1], [1, 2, 3]))).rejects.toThrow("do not broadcast");
    await expect(run(float([1], [1]), float([1, 1], [1]))).rejects.toThrow("expected rank 2 to 5, got 1");
  });
});
