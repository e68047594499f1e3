import { FusedActivationFunc } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkOf,
  declareOutput,
  f16,
  f32,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { add } from "./add.ts";
import { div } from "./div.ts";
import { mul } from "./mul.ts";
import { sub } from "./sub.ts";

const { NONE, RELU, RELU1, RELU6 } = FusedActivationFunc;
const none = i32Scalar(NONE);
const operations = [add, sub, mul, div];
const byName = operations.map((operation) => [operation.name, operation] as const);

describe("float", () => {
  const left = f32([5], [1, -2.5, 0, 8, Number.POSITIVE_INFINITY]);
  const right = f32([5], [2, 2, -3, 0.5, 1]);

  it.each([
    [add, [3, -0.5, -3, 8.5, Number.POSITIVE_INFINITY]],
    [sub, [-1, -4.5, 3, 7.5, Number.POSITIVE_INFINITY]],
    [mul, [2, -5, -0, 4, Number.POSITIVE_INFINITY]],
    [div, [0.5, -1.25, -0, 16, Number.POSITIVE_INFINITY]],
  ])("$name", (operation, expected) => {
    expect(valuesOf(runForOne(operation, [left, right, none]))).toEqual(expected);
  });

  it.each([
    [NONE, [-7, -1.5, 0.5, 9]],
    [RELU, [0, 0, 0.5, 9]],
    [RELU1, [-1, -1, 0.5, 1]],
    [RELU6, [0, 0, 0.5, 6]],
  ])("with activation %d", (activation, expected) => {
    const sum = runForOne(add, [f32([4], [-8, -2.5, -0.5, 8]), f32([1], [1]), i32Scalar(activation)]);
    expect(valuesOf(sum)).toEqual(expected);
  });

  it.each([-1, 4])("refuses activation %d", (activation) => {
    expect(() => runForOne(mul, [f32([1]), f32([1]), i32Scalar(activation)])).toThrow(
      `activation ${activation} is none of NONE 0, RELU 1, RELU1 2, RELU6 3`,
    );
  });

  it("computes in double and rounds once to float32", () => {
    const quotient = runForOne(div, [f32([1], [1]), f32([1], [3]), none]);
    expect(valuesOf(quotient)).toEqual([Math.fround(1 / 3)]);
  });

  it("rounds float16 results to float16", () => {
    const sum = runForOne(add, [f16([3], [2048, 1, 65504]), f16([3], [1, 2 ** -12, 65504]), none]);
    expect(valuesOf(sum)).toEqual([2048, 1, Number.POSITIVE_INFINITY]);
  });

  it("follows IEEE 754 in division by 0", () => {
    const quotient = runForOne(div, [f32([3], [1, -1, 0]), f32([1], [0]), none]);
    expect(valuesOf(quotient)).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]);
  });
});

describe("integer", () => {
  it.each([
    [add, [2 ** 31 - 1, -5, 7], [1, 3, -7], [-(2 ** 31), -2, 0]],
    [sub, [-(2 ** 31), -5, 7], [1, 3, -7], [2 ** 31 - 1, -8, 14]],
    [mul, [2 ** 30, 123456789, -3], [4, 987654321, 7], [0, -67153019, -21]],
    [div, [5, -5, 5, -5, 6, -6, 0], [2, 2, -2, -2, 3, 3, -9], [2, -3, -3, 2, 2, -2, 0]],
    [div, [7, -(2 ** 31), 0], [0, -1, 0], [0, -(2 ** 31), 0]],
    [div, [-(2 ** 31), 2 ** 31 - 1, 2 ** 31 - 2], [2 ** 31 - 1, -(2 ** 31), 2 ** 31 - 1], [-2, -1, 0]],
  ])("$name of %j and %j", (operation, left, right, expected) => {
    const result = runForOne(operation, [i32([left.length], left), i32([right.length], right), none]);
    expect(valuesOf(result)).toEqual(expected);
  });

  it("division floors exactly for any operands", () => {
    const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(int32, int32, (left, right) => {
        fc.pre(right !== 0 && (left !== -(2 ** 31) || right !== -1));
        const exact = BigInt(left) / BigInt(right);
        const isBelow = BigInt(left) % BigInt(right) !== 0n && left < 0 !== right < 0;
        const [quotient] = valuesOf(runForOne(div, [i32([1], [left]), i32([1], [right]), none]));
        expect(quotient).toBe(Number(isBelow ? exact - 1n : exact));
      }),
    );
  });

  it.each(byName)("%s allows no activation", (_, operation) => {
    const message = "activation 1 is given where TENSOR_INT32 allows only NONE 0";
    expect(() => runForOne(operation, [i32([1]), i32([1]), i32Scalar(RELU)])).toThrow(message);
    expect(checkOf(operation, [i32([1]), i32([1]), i32Scalar(RELU)])).toBe(message);
    expect(checkOf(operation, [i32([1]), i32([1]), none])).toBeUndefined();
  });
});

describe("quantised", () => {
  const quantisation = fc.record({
    scale: fc.double({ min: 0.01, max: 2, noNaN: true }),
    zeroPoint: fc.integer({ min: 0, max: 255 }),
  });
  const elements = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 8, maxLength: 8 });

  it.each([
    [add, (a: number, b: number) => a + b],
    [sub, (a: number, b: number) => a - b],
    [mul, (a: number, b: number) => a * b],
  ])("$name is within one unit of the real result, unsigned and signed alike", (operation, real) => {
    fc.assert(
      fc.property(quantisation, quantisation, quantisation, elements, elements, (p, q, r, x, y) => {
        fc.pre(operation !== mul || r.scale > p.scale * q.scale * 1.0001);
        const left = q8([8], p.scale, p.zeroPoint, x);
        const right = q8([8], q.scale, q.zeroPoint, y);
        const unsigned = runForOne(operation, [left, right, none], declareOutput("TENSOR_QUANT8_ASYMM", r));
        valuesOf(unsigned).forEach((value, index) => {
          const a = (x[index] - left.zeroPoint) * left.scale;
          const b = (y[index] - right.zeroPoint) * right.scale;
          const units = Math.min(255, Math.max(0, real(a, b) / Math.fround(r.scale) + r.zeroPoint));
          expect(Math.abs(value - units)).toBeLessThanOrEqual(1);
        });
        const lower = (values: readonly number[]) => values.map((value) => value - 128);
        const signed = runForOne(
          operation,
          [q8s([8], p.scale, p.zeroPoint - 128, lower(x)), q8s([8], q.scale, q.zeroPoint - 128, lower(y)), none],
          declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { ...r, zeroPoint: r.zeroPoint - 128 }),
        );
        expect(valuesOf(signed)).toEqual(lower(valuesOf(unsigned)));
      }),
    );
  });

  it("ADD broadcasts and applies the activation in the output's integers", () => {
    const left = q8([2, 2], 0.5, 100, [90, 100, 110, 120]); // -5, 0, 5, 10
    const right = q8([1], 0.25, 0, [4]); // 1
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 0.5, zeroPoint: 10 });
    const sumWith = (activation: number) => valuesOf(runForOne(add, [left, right, i32Scalar(activation)], output));
    expect(sumWith(NONE)).toEqual([2, 12, 22, 32]);
    expect(sumWith(RELU)).toEqual([10, 12, 22, 32]);
    expect(sumWith(RELU1)).toEqual([8, 12, 12, 12]);
    expect(sumWith(RELU6)).toEqual([10, 12, 22, 22]);
  });

  it("SUB subtracts the right operand", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1, zeroPoint: 128 });
    const difference = runForOne(sub, [q8([3], 1, 0, [5, 0, 255]), q8([3], 2, 10, [11, 12, 0]), none], output);
    expect(valuesOf(difference)).toEqual([131, 124, 255]);
  });

  it("ADD multiplies with numbers of 21 bits and rounds once, as TensorFlow Lite does", () => {
    // From a public MobileNet v2. The real sum is 25.50002 steps, with multipliers of 21 bits 25.49999.
    const left = q8s([1], 0.02703838050365448, -3, [113]);
    const right = q8s([1], 0.028132501989603043, -1, [-80]);
    const output = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 0.035842496901750565, zeroPoint: -3 });
    expect(valuesOf(runForOne(add, [left, right, none], output))).toEqual([22]);
  });

  it.each([
    [
      [3, -3],
      [2, -1],
    ],
    [
      [1, -1],
      [1, 0],
    ],
    [
      [2, -2],
      [1, -1],
    ],
  ])("ADD and SUB round halves up: %j", (given, wanted) => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 2, zeroPoint: 0 });
    const zero = q8s([2], 1, 0, [0, 0]);
    for (const operation of [add, sub])
      expect(valuesOf(runForOne(operation, [q8s([2], 1, 0, given), zero, none], output))).toEqual(wanted);
  });

  it("MUL rounds once", () => {
    // -790 * 0.00155 / 0.07 is -17.493 steps; rounded to 5 bits after the point first, that would be -17.5.
    const left = q8s([1], Math.fround(0.05), 3, [82]);
    const right = q8s([1], Math.fround(0.031), -5, [-15]);
    const output = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: Math.fround(0.07), zeroPoint: -9 });
    expect(valuesOf(runForOne(mul, [left, right, none], output))).toEqual([-26]);
  });

  it("MUL saturates at the ends of the type", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 2, zeroPoint: 0 });
    const product = runForOne(mul, [q8s([3], 1, 0, [100, -100, 3]), q8s([3], 1, 0, [100, 100, 4]), none], output);
    expect(valuesOf(product)).toEqual([127, -128, 6]);
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", q8],
    ["TENSOR_QUANT8_ASYMM_SIGNED", q8s],
  ] as const)("MUL of %s needs an output scale above the product of the inputs'", (type, build) => {
    const inputs = [build([1], 0.5, 0), build([1], 0.25, 0), none];
    const at = (scale: number) => ({ outputs: [declareOutput(type, { scale })] });
    const broken = "the output's scale: expected more than the product of the inputs' scales, 0.125, got 0.125";
    expect(checkOf(mul, inputs, at(0.125))).toBe(broken);
    expect(checkOf(mul, inputs, at(0.125 * (1 + 2 ** -23)))).toBeUndefined();
    expect(() => runForOne(mul, inputs, at(0.125).outputs[0])).toThrow(broken);
  });

  it.each([
    ["ADD", add],
    ["SUB", sub],
  ])("%s refuses an output scale too small for its arithmetic", (_, operation) => {
    const inputs = [q8([1], 1, 0, [3]), q8([1], 0.5, 0, [2]), none];
    const runWith = (scale: number) => runForOne(operation, inputs, declareOutput("TENSOR_QUANT8_ASYMM", { scale }));
    expect(() => runWith(2 ** -19)).toThrow(`the output's scale: expected more than ${2 ** -19}, got ${2 ** -19}`);
    expect(valuesOf(runWith(2 ** -18))).toEqual([255]);
  });
});

describe.each(byName)("%s", (_, operation) => {
  it("broadcasts", () => {
    const left = f32([2, 1], [6, 12]);
    const right = f32([3], [1, 2, 3]);
    const separate = (a: number, b: number) => valuesOf(runForOne(operation, [f32([1], [a]), f32([1], [b]), none]))[0];
    const result = runForOne(operation, [left, right, none]);
    expect(result.dimensions).toEqual([2, 3]);
    expect(valuesOf(result)).toEqual([6, 12].flatMap((a) => [1, 2, 3].map((b) => separate(a, b))));
  });

  it("refuses shapes that do not broadcast", () => {
    expect(() => runForOne(operation, [f32([2, 3]), f32([2]), none])).toThrow("shapes 2x3 and 2 do not broadcast");
  });

  it("computes nothing for zero-sized tensors", () => {
    const result = runForOne(operation, [f32([2, 0]), f32([2, 1]), none]);
    expect(result.dimensions).toEqual([2, 0]);
    expect(result.data).toHaveLength(0);
  });

  it("takes ranks up to 4", () => {
    expect(runForOne(operation, [f32([1, 1, 1, 1], [1]), f32([1], [1]), none]).dimensions).toEqual([1, 1, 1, 1]);
    expect(() => runForOne(operation, [f32([1]), f32([1, 1, 1, 1, 1]), none])).toThrow(
      "right: expected rank 1 to 4, got 5",
    );
    expect(() => runForOne(operation, [f32([1, 1, 1, 1, 1]), f32([1]), none])).toThrow(
      "left: expected rank 1 to 4, got 5",
    );
  });

  it("refuses other types, mixed types and other counts", () => {
    const wrong = tensorOf("TENSOR_BOOL8", [1]);
    expect(mismatchOf(operation, [wrong, wrong, none])).toContain(
      "input 0 (left): expected TENSOR_FLOAT32, got TENSOR_BOOL8",
    );
    expect(mismatchOf(operation, [f32([1]), f16([1]), none])).toContain(
      "input 1 (right): expected TENSOR_FLOAT32, got TENSOR_FLOAT16",
    );
    expect(mismatchOf(operation, [f32([1]), f32([1])])).toContain(
      "expected 3 inputs and 1 outputs, got 2 inputs and 1 outputs",
    );
    const output = { outputs: [declareOutput("TENSOR_FLOAT16")] };
    expect(mismatchOf(operation, [f32([1]), f32([1]), none], output)).toContain(
      "output 0 (output): expected TENSOR_FLOAT32, got TENSOR_FLOAT16",
    );
  });
});

describe("versions", () => {
  it.each([
    [add, ["1.0", "1.2", "1.0", "1.3", "1.3"]],
    [sub, ["1.1", "1.2", "1.2", "1.3", "1.3"]],
    [mul, ["1.0", "1.2", "1.0", "1.3", "1.3"]],
    [div, ["1.1", "1.2", undefined, undefined, "1.3"]],
  ])("of $name with float32, float16, quant8, signed quant8 and int32", (operation, versions) => {
    const operands = [f32([1]), f16([1]), q8([1], 1, 0), q8s([1], 1, 0), i32([1])];
    const found = operands.map((operand) => {
      const inputs = [operand, operand, none];
      return mismatchOf(operation, inputs) === undefined ? versionOf(operation, inputs) : undefined;
    });
    expect(found).toEqual(versions);
  });
});
