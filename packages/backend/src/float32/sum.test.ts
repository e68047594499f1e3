import { createData, elementAt, operationByCode, runToEnd, type Tensor, type TensorInfo } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { assert, constantFrom, double, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Float32Sum, float32Sum, hasFrequentTies } from "./sum.ts";

const { fround } = Math;

type Triple = readonly [left: number, right: number, output: number];

/** The formula of `Float32Sum`, each operation rounded to float32. */
function compute({ left, right, carryStep, step, restStep }: Float32Sum, l: number, r: number): number {
  const low = fround(fround(l * left.low) + fround(r * right.low));
  const carry = Math.floor(fround(low * carryStep));
  const high = fround(fround(fround(l * left.high) + fround(r * right.high)) + carry);
  const rest = fround(fround(low - fround(carry / carryStep)) * restStep);
  return Math.floor(fround(fround(high * step) + fround(rest + 0.5)));
}

function referenceSums(name: "ADD" | "SUB", left: Tensor, right: Tensor, output: TensorInfo): number[] {
  const operation = operationByCode(OperationType[name]);
  const result = { ...output, data: createData(output.type, left.data.length) };
  runToEnd(operation?.reference?.({ left, right, activation: 0 }, { output: result }, { random: () => 0 }));
  return Array.from(result.data, Number);
}

const pairs = 256 * 256;
const bytes = (of: (pair: number) => number) => Uint8Array.from({ length: pairs }, (_, pair) => of(pair));
const clamp = (value: number) => Math.min(255, Math.max(0, value));

function expectEqual(name: "ADD" | "SUB", scales: Triple, zeros: Triple) {
  const [leftScale, rightScale, scale] = [fround(scales[0]), fround(scales[1]), fround(scales[2])];
  const info = (scale: number, zeroPoint: number): TensorInfo => ({
    type: "TENSOR_QUANT8_ASYMM",
    dimensions: [pairs],
    scale,
    zeroPoint,
  });
  const left = { ...info(leftScale, zeros[0]), data: bytes((pair) => pair & 255) };
  const right = { ...info(rightScale, zeros[1]), data: bytes((pair) => pair >> 8) };
  const output = info(scale, zeros[2]);
  const parts = float32Sum(left, right, name === "ADD" ? 1 : -1, output);
  const expected = referenceSums(name, left, right, output);
  const actual = Array.from(left.data, (each, pair) =>
    clamp(compute(parts, each - zeros[0], elementAt(right.data, pair) - zeros[1]) + zeros[2]),
  );
  expect(actual.findIndex((each, pair) => each !== expected[pair])).toBe(-1);
}

describe("float32Sum", () => {
  it.each([
    ["equal scales", [0.1, 0.1, 0.1]],
    ["ties", [2 / 255, 2 / 255, 4 / 255]],
    ["a fine output, where the low part decides", [700, 699.9, 1]],
    ["the finest output", [2 ** 18.9, 2 ** 18.8, 1]],
    ["a coarse output", [0.001, 0.0007, 30]],
    ["one operand far below the other", [1, 1e-6, 1]],
  ] as const)("is the reference's sum of all pairs: %s", (_, scales) => {
    expectEqual("ADD", scales, [0, 255, 128]);
    expectEqual("SUB", scales, [128, 3, 100]);
  });

  it("is that of all pairs for random quantisations", () => {
    const scale = double({ min: -6, max: 6, noNaN: true }).map((exponent) => 2 ** exponent);
    const zero = integer({ min: 0, max: 255 });
    assert(
      property(constantFrom("ADD", "SUB"), scale, scale, scale, zero, zero, zero, (name, a, b, c, ...zeros) =>
        expectEqual(name, [a, b, c], zeros),
      ),
      { numRuns: 25 },
    );
  });

  it("refuses an output whose scale is too small", () => {
    expect(() => float32Sum({ scale: 2 ** 19 }, { scale: 1 }, 1, { scale: 1 })).toThrow("expected more than 1, got 1");
  });
});

describe("hasFrequentTies", () => {
  it.each([
    [[2 / 255, 2 / 255, 4 / 255], true],
    [[0.5, 0.25, 1], true],
    [[3, 2, 4], true],
    [[1, 1, 1], true],
    [[1 + 2 ** -9, 1, 2], true],
    [[1 + 2 ** -12, 1, 2], false],
    [[0.0247, 0.0027, 0.0263], false],
    [[0.0517, 0.0391, 0.0613], false],
  ] as const)("of scales %j is %s", ([left, right, output], expected) => {
    expect(hasFrequentTies({ scale: left }, { scale: right }, { scale: output })).toBe(expected);
  });
});
