/**
 * LSH_PROJECTION against the definition written out for one bit at a time.
 */
import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { fingerprint64 } from "./_farmhash.ts";
import {
  declareOutput,
  f16,
  f32,
  type Given,
  giveOmitted,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes } from "./_signature.test-helper.ts";
import { lshProjection } from "./lsh-projection.ts";

const output = declareOutput("TENSOR_INT32");
const noWeight = giveOmitted("TENSOR_FLOAT32");
const SPARSE_DEPRECATED = 1;
const DENSE = 2;
const SPARSE = 3;

const project = (hash: Given, input: Given, weight: Given, projection: number) =>
  runForOne(lshProjection, [hash, input, weight, i32Scalar(projection)], output);

/** The bit of a seed: the sign of Σ weight · hash(seed ‖ slice), the hash being a signed integer. */
function bitOf(seed: number, slices: readonly (readonly number[])[], weights: readonly number[]): number {
  const score = slices.reduce((sum, bytes, index) => {
    const key = new Uint8Array(4 + bytes.length);
    new DataView(key.buffer).setFloat32(0, seed, true);
    key.set(bytes, 4);
    return sum + weights[index] * Number(BigInt.asIntN(64, fingerprint64(key)));
  }, 0);
  return score > 0 ? 1 : 0;
}

const seeds = [0.125, -3, 7.5, 100, -0.25, 12];
const hash = f32([2, 3], seeds);
const slices = [
  [1, 2],
  [3, 4],
  [250, 0],
];
const input = q8([3, 2], 1, 0, slices.flat());
const weights = [0.5, -2, 1.5];
const bitsWith = (factors: readonly number[]) => seeds.map((seed) => bitOf(seed, slices, factors));

describe("LSH_PROJECTION", () => {
  const weighted = bitsWith(weights);
  const [a, b, c, d, e, f] = weighted;

  it("returns one element for each bit if it is dense", () => {
    const bits = project(hash, input, f32([3], weights), DENSE);
    expect(bits.dimensions).toEqual([6]);
    expect(valuesOf(bits)).toEqual(weighted);
    expect(new Set(weighted).size).toBe(2);
  });

  it("returns the bits of a hash function as one element if it is sparse, the first bit uppermost", () => {
    const deprecated = project(hash, input, f32([3], weights), SPARSE_DEPRECATED);
    expect(deprecated.dimensions).toEqual([2]);
    const signatures = [4 * a + 2 * b + c, 4 * d + 2 * e + f];
    expect(valuesOf(deprecated)).toEqual(signatures);
    expect(valuesOf(project(hash, input, f32([3], weights), SPARSE))).toEqual([signatures[0], 8 + signatures[1]]);
  });

  it("weighs every slice with 1 if weights are omitted", () => {
    expect(valuesOf(project(hash, input, noWeight, DENSE))).toEqual(bitsWith([1, 1, 1]));
  });

  it("hashes the bytes that a pool holds: little-endian, float16 in two", () => {
    const cases: readonly (readonly [Given, number[][]])[] = [
      [
        i32([2], [0x0102_0304, -1]),
        [
          [4, 3, 2, 1],
          [255, 255, 255, 255],
        ],
      ],
      [f32([1, 1], [1]), [[0, 0, 0x80, 0x3f]]],
      [f16([1, 2], [1, -2]), [[0, 0x3c, 0, 0xc0]]],
    ];
    for (const [given, bytes] of cases) {
      const ones = bytes.map(() => 1);
      expect(valuesOf(project(hash, given, noWeight, DENSE))).toEqual(seeds.map((seed) => bitOf(seed, bytes, ones)));
    }
  });

  it("takes float16 seeds as the float32 of the same value", () => {
    const bits = project(f16([2, 3], seeds), input, f16([3], weights), DENSE);
    expect(valuesOf(bits)).toEqual(weighted);
  });

  it("wraps signatures of 32 bits", () => {
    const many = f32([1, 32], new Array(32).fill(seeds[weighted.indexOf(1)]));
    expect(valuesOf(project(many, input, f32([3], weights), SPARSE))).toEqual([-1]);
    expect(valuesOf(project(many, input, f32([3], weights), SPARSE_DEPRECATED))).toEqual([-1]);
  });

  it("returns zeros for an input without slices", () => {
    expect(valuesOf(project(hash, f32([0]), noWeight, DENSE))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("refuses sizes that do not fit 32 bits", () => {
    expect(() => project(f32([1, 33]), input, noWeight, DENSE)).toThrow("33 bits where at most 32");
    expect(() => project(f32([2, 32]), input, noWeight, SPARSE)).toThrow("2 signatures of 32 bits do not fit 32 bits");
    expect(project(f32([2, 31]), input, noWeight, SPARSE).dimensions).toEqual([2]);
    expect(project(f32([2, 32]), input, noWeight, SPARSE_DEPRECATED).dimensions).toEqual([2]);
  });

  it("refuses other types of projection, other numbers of weights and other ranks", () => {
    expect(() => project(hash, input, noWeight, 0)).toThrow(
      "the type: expected 1 (sparse, deprecated), 2 (dense) or 3 (sparse), got 0",
    );
    expect(() => project(hash, input, noWeight, 4)).toThrow(
      "the type: expected 1 (sparse, deprecated), 2 (dense) or 3 (sparse), got 4",
    );
    expect(() => project(hash, input, f32([2]), DENSE)).toThrow("there are 2 weights for 3 slices of the input");
    expect(() => project(hash, input, f32([3, 1]), DENSE)).toThrow("weight: expected rank 1, got 2");
    expect(() => project(f32([6]), input, noWeight, DENSE)).toThrow("hash: expected rank 2, got 1");
  });

  it("takes the HAL's types, and offsets from 1.2", () => {
    const inputs = (weightType: OperandTypeName) => (type: OperandTypeName) => [
      tensorOf(weightType, [1, 1]),
      tensorOf(type, [1]),
      tensorOf(weightType, [1]),
      i32Scalar(DENSE),
    ];
    const since10 = { TENSOR_FLOAT32: "1.0", TENSOR_INT32: "1.0", TENSOR_QUANT8_ASYMM: "1.0" } as const;
    const since12 = { TENSOR_FLOAT32: "1.2", TENSOR_INT32: "1.2", TENSOR_QUANT8_ASYMM: "1.2" } as const;
    const outputs = () => [output];
    expectTypes(lshProjection, { ...since10, TENSOR_FLOAT16: "1.2" }, inputs("TENSOR_FLOAT32"), outputs);
    expectTypes(lshProjection, { ...since12, TENSOR_FLOAT16: "1.2" }, inputs("TENSOR_FLOAT16"), outputs);
    const mixed = [hash, input, f16([3]), i32Scalar(DENSE)];
    expect(mismatchOf(lshProjection, mixed, { outputs: [output] })).toContain(
      "input 2 (weight): expected TENSOR_FLOAT32, got TENSOR_FLOAT16",
    );
    const version = (projection: number) =>
      versionOf(lshProjection, [hash, input, noWeight, i32Scalar(projection)], { outputs: [output] });
    expect([version(SPARSE_DEPRECATED), version(DENSE), version(SPARSE)]).toEqual(["1.0", "1.0", "1.2"]);
  });
});
