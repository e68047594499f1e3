import { elementAt, toFloat16Bits } from "@nnhal/operations";
import { addExample, bytesOf, operand, output, withOperands } from "@nnhal/test-kit/examples";
import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { compareOutputs, findDifference } from "./compare.ts";
import type { Allowance, Example } from "./example.ts";
import { changeExample, outputExample } from "./examples.test-helper.ts";

type Encode = (...values: number[]) => Uint8Array;

const f32: Encode = (...values) => bytesOf(Float32Array.of(...values));
const f16: Encode = (...values) => bytesOf(Uint16Array.from(values, toFloat16Bits));
const i32: Encode = (...values) => bytesOf(Int32Array.of(...values));
const u8: Encode = (...values) => Uint8Array.of(...values);
const i8: Encode = (...values) => bytesOf(Int8Array.of(...values));
const u16: Encode = (...values) => bytesOf(Uint16Array.of(...values));
const i16: Encode = (...values) => bytesOf(Int16Array.of(...values));

/** The difference found where the one output holds `actual`. */
function difference(example: Example, actual: Uint8Array, dimensions?: readonly number[], isSufficient = true) {
  const declared = elementAt(example.main.operands, elementAt(example.main.outputIndexes, 0)).dimensions;
  return findDifference(example, [{ dimensions: dimensions ?? declared, isSufficient }], () => actual);
}

/** Returns true if `actual` passes against `expected`. */
function passes(type: OperandTypeName, encode: Encode, expected: number, actual: number, more: Partial<Example> = {}) {
  return difference(outputExample(type, [1], encode(expected), more), encode(actual)) === undefined;
}

/** The float32 values around a real number: the last that is below or equal, and the next above. */
function float32Around(bound: number): [inside: number, outside: number] {
  const nearest = Math.fround(bound);
  const bits = new Int32Array(Float32Array.of(nearest).buffer);
  bits[0] = elementAt(bits, 0) + (nearest > bound ? -1 : 1);
  const neighbour = elementAt(new Float32Array(bits.buffer), 0);
  return nearest > bound ? [neighbour, nearest] : [nearest, neighbour];
}

const half = 2 ** -10;

describe("tolerances", () => {
  it("of float32 are 1e-5 and five units in the last place", () => {
    for (const expected of [0, 1, 3.5, 1e6]) {
      const [inside, outside] = float32Around(expected + 1e-5 + 5 * 2 ** -23 * expected);
      expect(passes("TENSOR_FLOAT32", f32, expected, inside)).toBe(true);
      expect(passes("TENSOR_FLOAT32", f32, expected, outside)).toBe(false);
      expect(passes("TENSOR_FLOAT32", f32, -expected, -inside)).toBe(true);
      expect(passes("TENSOR_FLOAT32", f32, -expected, -outside)).toBe(false);
    }
  });

  it("of float32 are those of float16 in a relaxed model, or with a float16 tensor in any subgraph", () => {
    const [inside, outside] = float32Around(3 + 5 * half * 4);
    const withFloat16 = { referenced: [{ ...addExample().main, operands: [operand("TENSOR_FLOAT16", [1])] }] };
    for (const more of [{ isRelaxed: true }, withFloat16]) {
      expect(passes("TENSOR_FLOAT32", f32, 3, inside, more)).toBe(true);
      expect(passes("TENSOR_FLOAT32", f32, 3, outside, more)).toBe(false);
    }
    expect(passes("TENSOR_FLOAT32", f32, 3, inside)).toBe(false);
    const withScalar = { referenced: [{ ...addExample().main, operands: [operand("FLOAT16", [])] }] };
    expect(passes("TENSOR_FLOAT32", f32, 3, inside, withScalar)).toBe(false);
  });

  it("of float16 are five units of its last place, absolute and relative", () => {
    // At 0 the bound 5 * 2^-10 is a float16 itself, at 1 twice as much.
    expect(passes("TENSOR_FLOAT16", f16, 0, 5 * half)).toBe(true);
    expect(passes("TENSOR_FLOAT16", f16, 0, 5 * half + 2 ** -18)).toBe(false);
    expect(passes("TENSOR_FLOAT16", f16, 1, 1 + 10 * half)).toBe(true);
    expect(passes("TENSOR_FLOAT16", f16, 1, 1 + 11 * half)).toBe(false);
    expect(passes("TENSOR_FLOAT16", f16, -1, -1 - 10 * half)).toBe(true);
    expect(passes("TENSOR_FLOAT16", f16, -1, -1 - 11 * half)).toBe(false);
  });

  it.each<[OperandTypeName, Encode, number]>([
    ["TENSOR_QUANT8_ASYMM", u8, 200],
    ["TENSOR_QUANT8_ASYMM_SIGNED", i8, -100],
    ["TENSOR_QUANT8_SYMM", i8, 0],
    ["TENSOR_QUANT16_ASYMM", u16, 60_000],
    ["TENSOR_QUANT16_SYMM", i16, -30_000],
    ["TENSOR_INT32", i32, -2_000_000_000],
  ])("of %s are one", (type, encode, expected) => {
    for (const [offset, right] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const) {
      expect(passes(type, encode, expected, expected + offset)).toBe(right);
      expect(passes(type, encode, expected, expected + offset, { isRelaxed: true })).toBe(right);
    }
  });

  it("of an INT32 scalar are one", () => {
    const example = outputExample("INT32", [], i32(4));
    expect(difference(example, i32(5))).toBeUndefined();
    expect(difference(example, i32(6))).toBe(
      "FLOOR output 0 element 0: expected 4, got 6, with an allowance of 1; 1 of 1 elements differ",
    );
  });

  it("of TENSOR_BOOL8 are none", () => {
    expect(passes("TENSOR_BOOL8", u8, 1, 1)).toBe(true);
    expect(passes("TENSOR_BOOL8", u8, 1, 0)).toBe(false);
    expect(passes("TENSOR_BOOL8", u8, 0, 1)).toBe(false);
  });

  it("do not let NaN or infinity pass", () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(passes("TENSOR_FLOAT32", f32, 1, wrong, { isRelaxed: true })).toBe(false);
      expect(passes("TENSOR_FLOAT16", f16, 1, wrong)).toBe(false);
    }
  });

  it("read float16 below its normal range", () => {
    expect(passes("TENSOR_FLOAT16", f16, 2 ** -24, -(2 ** -15))).toBe(true);
    const smallest = outputExample("TENSOR_FLOAT16", [1], f16(2 ** -24));
    expect(difference(smallest, f16(-1))).toMatch(/expected 5\.960464477539063e-8, got -1,/);
  });
});

describe("an allowance of its own", () => {
  const allowing = (expected: number, actual: number, allowance: Allowance) => {
    const example = outputExample("TENSOR_FLOAT32", [1], f32(expected));
    const operands = example.main.operands.map((own) => ({ ...own, allowance }));
    return difference({ ...example, main: { ...example.main, operands } }, f32(actual)) === undefined;
  };

  it("stands for that of the type, the bounds included", () => {
    for (const [actual, right] of [
      [10.5, true],
      [9.5, true],
      [10.51, false],
      [9.49, false],
    ] as const) {
      expect(allowing(10, actual, { absolute: 0.25, relative: 0.025 }), String(actual)).toBe(right);
    }
    expect(allowing(1, 1, { absolute: 0, relative: 0 })).toBe(true);
    expect(allowing(1, 1 + 2 ** -23, { absolute: 0, relative: 0 })).toBe(false);
  });

  it("wants the same NaN and infinity, unless any value is right", () => {
    const [nan, infinity] = [Number.NaN, Number.POSITIVE_INFINITY];
    const allowance = { absolute: 1, relative: 1 };
    for (const expected of [nan, infinity, -infinity]) {
      for (const actual of [nan, infinity, -infinity, 3]) {
        expect(allowing(expected, actual, allowance)).toBe(Object.is(expected, actual));
        expect(allowing(expected, actual, { ...allowance, anyUnusual: true })).toBe(true);
      }
    }
    expect(allowing(3, nan, { ...allowance, anyUnusual: true })).toBe(false);
  });
});

describe("compareOutputs", () => {
  const errorOf = (type: OperandTypeName, encode: Encode, expected: number[], actual: number[]) => {
    const example = outputExample(type, [expected.length], encode(...expected));
    return compareOutputs(example, [{ dimensions: [expected.length], isSufficient: true }], () => encode(...actual))
      .error;
  };

  it("returns the greatest part of its allowance that an element uses up", () => {
    expect(errorOf("TENSOR_FLOAT16", f16, [0, 0], [half, -2 * half])).toBeCloseTo(0.4);
    expect(errorOf("TENSOR_QUANT8_ASYMM", u8, [7, 7], [7, 10])).toBe(3);
    expect(errorOf("TENSOR_INT32", i32, [7], [7])).toBe(0);
  });

  it("returns 1e9 for all that is greater, and undefined if there are no elements to compare", () => {
    expect(errorOf("TENSOR_BOOL8", u8, [0], [1])).toBe(1e9);
    expect(errorOf("TENSOR_INT32", i32, [-(2 ** 31)], [2 ** 31 - 1])).toBe(1e9);
    expect(compareOutputs(outputExample("TENSOR_INT32", [1], i32(1)), [], () => i32(1)).error).toBeUndefined();
  });
});

describe("findDifference", () => {
  const example = outputExample("TENSOR_FLOAT32", [2, 1, 3], f32(1, 2, 3, 4, 5, 6));

  it("tells the operation, the output, and the first element that differs with its place", () => {
    expect(difference(example, f32(1, 2, 3, 4, 5, 6))).toBeUndefined();
    expect(difference(example, f32(1, 2, 3, 4, 7, 9))).toBe(
      "FLOOR output 0 element 4 [1, 0, 1]: expected 5, got 7, with an allowance of 0.000013; 2 of 6 elements differ",
    );
  });

  it("compares shapes, of ranks too, before values", () => {
    const right = f32(1, 2, 3, 4, 5, 6);
    expect(difference(example, right, [2, 3])).toBe("FLOOR output 0: expected shape 2x1x3, got 2x3");
    expect(difference(example, right, [2, 1, 0])).toBe("FLOOR output 0: expected shape 2x1x3, got 2x1x0");
    expect(difference(example, right, [])).toBe("FLOOR output 0: expected shape 2x1x3, got scalar");
    expect(difference(example, right, [2, 1, 3], false)).toMatch(/too small/);
  });

  it("compares the shape of an output without elements", () => {
    const empty = outputExample("TENSOR_FLOAT32", [0, 4], null);
    expect(difference(empty, u8(0xcd))).toBeUndefined();
    expect(difference(empty, u8(0xcd), [0, 5])).toBe("FLOOR output 0: expected shape 0x4, got 0x5");
    expect(difference(empty, u8(0xcd), [1, 4])).toBe("FLOOR output 0: expected shape 0x4, got 1x4");
  });

  it("wants a shape for every output", () => {
    expect(findDifference(example, [], () => u8())).toBe("the answer has 0 output shapes, the model 1 outputs");
  });

  it("compares neither shape nor values of an ignored output, but those of the next", () => {
    const two: Example = {
      ...example,
      main: {
        ...example.main,
        outputIndexes: [1, 2],
        operations: [{ type: "SPLIT", inputs: [0], outputs: [1, 2] }],
        operands: [
          elementAt(example.main.operands, 0),
          operand("TENSOR_FLOAT32", [1], { ...output, isIgnored: true, data: f32(0) }),
          operand("TENSOR_FLOAT32", [1], { ...output, data: f32(7) }),
        ],
      },
    };
    const find = (values: readonly number[], dimensions = [1]) =>
      findDifference(
        two,
        [
          { dimensions: [9], isSufficient: false },
          { dimensions, isSufficient: true },
        ],
        (index) => f32(elementAt(values, index)),
      );
    expect(find([99, 7])).toBeUndefined();
    expect(find([99, 8])).toMatch(/^SPLIT output 1 element 0: expected 7, got 8/);
    expect(find([99, 7], [2])).toBe("SPLIT output 1: expected shape 1, got 2");
  });

  it("names the operation that writes the output", () => {
    const wrong = withOperands(addExample(), {});
    expect(difference(wrong, f32(11, 22, 34))).toMatch(/^ADD output 0 element 2 \[0, 2\]: expected 33, got 34,/);
  });
});

describe("an allowance for each element", () => {
  const findAllowed = (own: Partial<Allowance>) => {
    const allowance = { absolute: 0, relative: 0, ...own };
    return changeExample(outputExample("TENSOR_FLOAT32", [3], f32(1, 2, 3)), { 1: { allowance } });
  };
  const of = (allowance: Partial<Allowance>, ...actual: number[]) => difference(findAllowed(allowance), f32(...actual));

  it("is the bound of that element", () => {
    const elements = [0, 0.5, 1];
    expect(of({ elements }, 1, 2.5, 4)).toBeUndefined();
    expect(of({ elements }, 1.25, 2.5, 4)).toMatch(/element 0: expected 1, got 1.25, without an allowance; 1 of 3/);
    expect(of({ elements }, 1, 2.75, 5)).toMatch(/element 1: .* with an allowance of 0.5; 2 of 3 elements differ/);
  });

  it("is null for an element that is not compared, but must be there", () => {
    const elements = [0, null, 0];
    expect(of({ elements }, 1, Number.NaN, 3)).toBeUndefined();
    expect(of({ elements }, 1, 2, 4)).toMatch(/element 2/);
    expect(of({ elements: [0, null, null] }, 1)).toMatch(/element 1/);
  });

  it("goes with a bound of the mean difference, which is one of the elements that are compared", () => {
    const elements = [1, 1, null];
    expect(of({ elements, bias: 0.5 }, 1.5, 2.5, 99)).toBeUndefined();
    expect(of({ elements, bias: 0.5 }, 0.5, 1.5, 99)).toBeUndefined();
    expect(of({ elements, bias: 0.5 }, 1.5, 1.5, 99)).toBeUndefined();
    expect(of({ elements, bias: 0.5 }, 0.25, 1.5, 3)).toBe(
      "FLOOR output 0 the bias of 2 elements: expected at most 0.5, got -0.625",
    );
  });

  it("goes with a bound of the mean of the squares", () => {
    const elements = [1, 1, null];
    expect(of({ elements, meanSquare: 0.25 }, 1.5, 1.5, 99)).toBeUndefined();
    expect(of({ elements, meanSquare: 0.25 }, 1.75, 1.5, 3)).toBe(
      "FLOOR output 0 the mean square error of 2 elements: expected at most 0.25, got 0.406",
    );
  });
});
