/** The extension itself: its types, its codec, its operation. */
import { type AnyTensorData, describeExtension, type OutputTensor } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { FIBONACCI, fibonacci, fibonacciNumbers, quantise } from "./fibonacci.ts";
import { INT64, TENSOR_QUANT64_ASYMM } from "./types.ts";

const codec = TENSOR_QUANT64_ASYMM.params;

describe("com.example.fibonacci", () => {
  it("is described as devices describe it", () => {
    expect(describeExtension(fibonacci)).toEqual({
      name: "com.example.fibonacci",
      operandTypes: [
        { type: 0, isTensor: false, byteSize: 8 },
        { type: 1, isTensor: true, byteSize: 8 },
      ],
    });
  });
});

describe("the extension data of a TENSOR_QUANT64_ASYMM", () => {
  it("is a double and an int64, little-endian, at any alignment", () => {
    const bytes = codec?.encode({ scale: 0.5, zeroPoint: -2n }) ?? new Uint8Array();
    expect([...bytes]).toEqual([0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0xfe, ...new Array(7).fill(0xff)]);
    const moved = new Uint8Array(17);
    moved.set(bytes, 1);
    expect(codec?.decode(moved.subarray(1))).toEqual({ scale: 0.5, zeroPoint: -2n });
  });

  it.each([0, 15, 17])("does not have %i bytes", (length) => {
    expect(() => codec?.decode(new Uint8Array(length))).toThrow(`expected 16 bytes of data, got ${length}`);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("does not have the scale %d", (scale) => {
    const bytes = codec?.encode({ scale, zeroPoint: 0n }) ?? new Uint8Array();
    expect(() => codec?.decode(bytes)).toThrow("expected a positive number, got");
  });
});

describe("quantise", () => {
  it("divides by the scale, rounds, and adds the zero point", () => {
    expect(quantise(7n, { scale: 2, zeroPoint: 10n })).toBe(14n);
    expect(quantise(5n, { scale: 0.5, zeroPoint: -1n })).toBe(9n);
    expect(quantise(2n ** 62n + 1n, { scale: 1, zeroPoint: 0n })).toBe(2n ** 62n + 1n);
  });

  it("stays within 64 bits", () => {
    expect(quantise(2n ** 62n, { scale: 0.25, zeroPoint: 0n })).toBe(2n ** 63n - 1n);
    expect(quantise(0n, { scale: 1, zeroPoint: -(2n ** 63n) })).toBe(-(2n ** 63n));
  });
});

describe("FIBONACCI", () => {
  const output = (type: OutputTensor["type"], data: AnyTensorData, params?: unknown) => ({
    ...{ type, dimensions: [data.length], scale: 0, zeroPoint: 0, data },
    ...(params !== undefined && { params }),
  });
  const run = (n: AnyTensorData, sequence: ReturnType<typeof output>) => {
    const type = n instanceof BigInt64Array ? INT64 : "TENSOR_FLOAT32";
    // A kernel is typed by its definition; the executor calls it as here.
    const reference = FIBONACCI.reference as unknown as (args: object, outputs: object, context: object) => void;
    reference({ n: { type, dimensions: [], scale: 0, zeroPoint: 0, data: n } }, { sequence }, { random: () => 0 });
    return sequence.data;
  };

  it("writes real numbers", () => {
    const sequence = output("TENSOR_FLOAT32", new Float32Array(7));
    expect(run(BigInt64Array.of(7n), sequence)).toEqual(Float32Array.of(1, 1, 2, 3, 5, 8, 13));
  });

  it("writes quantised numbers", () => {
    const sequence = output(TENSOR_QUANT64_ASYMM, new BigInt64Array(5), { scale: 0.5, zeroPoint: 10n });
    expect(run(Float32Array.of(5), sequence)).toEqual(BigInt64Array.of(12n, 12n, 14n, 16n, 20n));
  });

  it("has 92 numbers at most, which fit in 64 bits", () => {
    expect(fibonacciNumbers(92).at(-1)).toBe(7540113804746346429n);
    expect(run(Float32Array.of(92), output("TENSOR_FLOAT32", new Float32Array(92)))).toHaveLength(92);
    for (const n of [0, -1, 93, 1.5, Number.NaN]) {
      expect(() => run(Float32Array.of(n), output("TENSOR_FLOAT32", new Float32Array(1)))).toThrow(
        `n: expected an integer within [1, 92], got ${n}`,
      );
    }
  });
});
