/**
 * GATHER, EMBEDDING_LOOKUP and HASHTABLE_LOOKUP: slices chosen by index or key.
 */
import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount } from "../tensor.ts";
import {
  declareOutput,
  f16,
  f32,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  runOperation,
  tensorOf,
  valuesOf,
} from "./_run.test-helper.ts";
import { expectTypes, floatIntegerAndQuant8Versions } from "./_signature.test-helper.ts";
import { embeddingLookup } from "./embedding-lookup.ts";
import { gather } from "./gather.ts";
import { hashtableLookup } from "./hashtable-lookup.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const makeCounting = (...dimensions: number[]) => f32(dimensions, upTo(elementCount(dimensions)));
const vector = (...values: number[]) => i32([values.length], values);

describe("GATHER", () => {
  const gathered = (input: Given, axis: number, indices: Given) => runForOne(gather, [input, i32Scalar(axis), indices]);

  it("takes slices along an axis", () => {
    const rows = gathered(makeCounting(3, 2), 0, vector(2, 0, 2));
    expect(rows.dimensions).toEqual([3, 2]);
    expect(valuesOf(rows)).toEqual([5, 6, 1, 2, 5, 6]);
    const columns = gathered(makeCounting(2, 3), -1, vector(1));
    expect(columns.dimensions).toEqual([2, 1]);
    expect(valuesOf(columns)).toEqual([2, 5]);
  });

  it("puts the shape of the indices in the axis's place", () => {
    const output = gathered(makeCounting(2, 3, 2), 1, i32([2, 2], [0, 2, 1, 0]));
    expect(output.dimensions).toEqual([2, 2, 2, 2]);
    expect(valuesOf(output)).toEqual([1, 2, 5, 6, 3, 4, 1, 2, 7, 8, 11, 12, 9, 10, 7, 8]);
  });

  it("returns output[o, p, i] = input[o, indices[p], i]", () => {
    const cases = fc
      .record({ outer: fc.nat(3), extent: fc.integer({ min: 1, max: 4 }), inner: fc.nat(3) })
      .chain((sizes) => fc.record({ sizes: fc.constant(sizes), indices: fc.array(fc.nat(sizes.extent - 1)) }));
    fc.assert(
      fc.property(cases, ({ sizes: { outer, extent, inner }, indices }) => {
        const input = makeCounting(outer, extent, inner);
        const expected: number[] = [];
        for (let o = 0; o < outer; o++) {
          for (const index of indices) {
            for (let i = 0; i < inner; i++) expected.push(input.data[(o * extent + index) * inner + i]);
          }
        }
        expect(valuesOf(gathered(input, 1, vector(...indices)))).toEqual(expected);
      }),
    );
  });

  it("keeps scale and zero point", () => {
    const output = gathered(q8([3], 0.5, 8, [1, 2, 3]), 0, vector(2));
    expect(output).toMatchObject({ dimensions: [1], scale: 0.5, zeroPoint: 8 });
    expect(valuesOf(output)).toEqual([3]);
  });

  it("refuses indexes and axes outside", () => {
    expect(() => gathered(makeCounting(3), 0, vector(0, 3))).toThrow("index 3 at 1 is outside [0, 3)");
    expect(() => gathered(makeCounting(3), 0, vector(-1))).toThrow("index -1 at 0 is outside [0, 3)");
    expect(() => gathered(f32([0]), 0, vector(0))).toThrow("index 0 at 0 is outside [0, 0)");
    expect(() => gathered(makeCounting(3), 1, vector(0))).toThrow("axis 1 is outside [-1, 1)");
    expect(() => gathered(makeCounting(3), -2, vector(0))).toThrow("axis -2 is outside [-1, 1)");
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), i32Scalar(0), vector(0)];
    expectTypes(gather, floatIntegerAndQuant8Versions, inputs, (type) => [tensorOf(type, [1])]);
  });
});

describe("EMBEDDING_LOOKUP", () => {
  const look = (lookups: Given, values: Given) =>
    runForOne(embeddingLookup, [lookups, values], declareOutput(values.type));

  it("takes rows", () => {
    const output = look(vector(1, 1, 0), makeCounting(2, 2, 2));
    expect(output.dimensions).toEqual([3, 2, 2]);
    expect(valuesOf(output)).toEqual([5, 6, 7, 8, 5, 6, 7, 8, 1, 2, 3, 4]);
    expect(valuesOf(look(vector(1), f16([2, 1], [0.5, 1.5])))).toEqual([1.5]);
    expect(look(i32([0]), makeCounting(2, 2)).dimensions).toEqual([0, 2]);
  });

  it("keeps the values' scale and zero point", () => {
    const output = look(vector(1), q8s([2, 1], 0.5, 8, [1, -2]));
    expect(output).toMatchObject({ scale: 0.5, zeroPoint: 8 });
    expect(valuesOf(output)).toEqual([-2]);
  });

  it("refuses indexes outside, and values of rank 1", () => {
    expect(() => look(vector(2), makeCounting(2, 1))).toThrow("index 2 at 0 is outside [0, 2)");
    expect(() => look(vector(-1), makeCounting(2, 1))).toThrow("index -1 at 0 is outside [0, 2)");
    expect(() => look(vector(0), makeCounting(2))).toThrow("values: expected rank 2 or more, got 1");
    expect(() => look(i32([1, 1]), makeCounting(2, 1))).toThrow("lookups: expected rank 1, got 2");
  });

  it("takes the HAL's types", () => {
    expectTypes(
      embeddingLookup,
      {
        TENSOR_FLOAT32: "1.0",
        TENSOR_INT32: "1.2",
        TENSOR_QUANT8_ASYMM: "1.2",
        TENSOR_FLOAT16: "1.3",
        TENSOR_QUANT8_ASYMM_SIGNED: "1.3",
      },
      (type) => [vector(0), tensorOf(type, [1, 1])],
      (type) => [tensorOf(type, [1])],
    );
  });
});

describe("HASHTABLE_LOOKUP", () => {
  const hits = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 });
  const looked = (lookups: Given, keys: Given, values: Given) =>
    runOperation(hashtableLookup, [lookups, keys, values], { outputs: [declareOutput(values.type), hits] });

  it("takes the rows of keys, zeros for keys that are missing, and says which", () => {
    const [output, found] = looked(vector(30, -7, 20, 30), vector(-7, 10, 30), makeCounting(3, 2));
    expect(output.dimensions).toEqual([4, 2]);
    expect(valuesOf(output)).toEqual([5, 6, 1, 2, 0, 0, 5, 6]);
    expect(found).toMatchObject({ type: "TENSOR_QUANT8_ASYMM", dimensions: [4], scale: 1, zeroPoint: 0 });
    expect(valuesOf(found)).toEqual([1, 1, 0, 1]);
  });

  it("stores zeros for a missing key, for any zero point", () => {
    const [output] = looked(vector(1, 2), vector(1), q8([1, 1], 0.5, 9, [33]));
    expect(output).toMatchObject({ scale: 0.5, zeroPoint: 9 });
    expect(valuesOf(output)).toEqual([33, 0]);
  });

  it("finds keys that are not sorted, and the first of equal ones", () => {
    const [output] = looked(vector(3, 1), vector(3, 1, 3), i32([3], [10, 20, 30]));
    expect(valuesOf(output)).toEqual([10, 20]);
  });

  it("looks up nothing, and in nothing", () => {
    expect(looked(i32([0]), vector(1), makeCounting(1, 2)).map(({ dimensions }) => dimensions)).toEqual([[0, 2], [0]]);
    const [output, found] = looked(vector(1), i32([0]), f32([0, 2]));
    expect([valuesOf(output), valuesOf(found)]).toEqual([[0, 0], [0]]);
  });

  it("refuses keys that are not one for each row, and lists of another rank", () => {
    expect(() => looked(vector(1), vector(1, 2), makeCounting(3, 1))).toThrow("there are 2 keys and 3 rows of values");
    expect(() => looked(i32([1, 1]), vector(1), makeCounting(1, 1))).toThrow("lookups: expected rank 1, got 2");
    expect(() => looked(vector(1), i32([1, 1]), makeCounting(1, 1))).toThrow("keys: expected rank 1, got 2");
  });

  it("takes the HAL's types", () => {
    expectTypes(
      hashtableLookup,
      { TENSOR_FLOAT32: "1.0", TENSOR_INT32: "1.0", TENSOR_QUANT8_ASYMM: "1.0" },
      (type) => [vector(0), vector(0), tensorOf(type, [1])],
      (type) => [tensorOf(type, [1]), hits],
    );
    const inputs = [vector(0), vector(0), makeCounting(1)];
    expect(mismatchOf(hashtableLookup, inputs)).toContain("3 inputs and 1 outputs");
    const outputs = [declareOutput("TENSOR_FLOAT32"), declareOutput("TENSOR_BOOL8")];
    expect(mismatchOf(hashtableLookup, inputs, { outputs })).toContain(
      "output 1 (hits): expected TENSOR_QUANT8_ASYMM, got TENSOR_BOOL8",
    );
  });
});
