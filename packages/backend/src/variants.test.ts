import { expect, test } from "vitest";
import type { InputBuffer } from "./contract.ts";
import { addVariant, hasExtents, staticExtents } from "./variants.ts";

const input = (dimensions: readonly number[]): InputBuffer => ({ bytes: new Uint8Array(8), dimensions });
const tensor = (dimensions: readonly number[]) => ({ type: "TENSOR_FLOAT32", dimensions }) as never;
const scalar = { type: "INT32", dimensions: [] } as never;

test.each([
  ["all known", [tensor([1, 2]), scalar], [[1, 2], []]],
  ["one extent open", [tensor([1, 0])], undefined],
  ["the rank open", [tensor([])], undefined],
  ["a type that is not described", [undefined as never], undefined],
])("extents of inputs: %s", (_, operands, expected) => {
  expect(staticExtents({ inputs: [...operands.keys()], operands })).toEqual(expected);
});

test.each([
  [input([1, 2]), [1, 2], true],
  [input([2, 1]), [1, 2], false],
  [input([1]), [1, 2], false],
  [undefined, undefined, true],
  [undefined, [1, 2], false],
  [input([1, 2]), undefined, false],
] as const)("input %j has extents %j: %s", (given, extents, expected) => {
  expect(hasExtents(given, extents)).toBe(expected);
});

test("the last four variants are kept", () => {
  const variants: number[] = [];
  expect([1, 2, 3, 4, 5, 6].map((variant) => addVariant(variants, variant))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    1,
    2,
  ]);
  expect(variants).toEqual([3, 4, 5, 6]);
});
