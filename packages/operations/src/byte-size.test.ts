import { operandTypes } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { byteSize, isUnspecified, specifiedByteSize } from "./byte-size.ts";

const { TENSOR_FLOAT32, TENSOR_FLOAT16, INT32, OEM, SUBGRAPH } = operandTypes;
const beyondNumbers = new Array(40).fill(2 ** 31);

describe("byteSize", () => {
  it.each([
    ["a tensor", TENSOR_FLOAT32, [2, 3], 24],
    ["a tensor of half precision", TENSOR_FLOAT16, [2, 3], 12],
    ["a tensor of rank 0", TENSOR_FLOAT32, [], 4],
    ["an empty tensor", TENSOR_FLOAT32, [2, 0], 0],
    ["an empty tensor whose other extents are large", TENSOR_FLOAT32, [...beyondNumbers, 0], 0],
    ["a tensor beyond the numbers", TENSOR_FLOAT32, beyondNumbers, Number.POSITIVE_INFINITY],
    ["a scalar", INT32, [], 4],
    ["a scalar of the OEM, whose size the HAL does not know", OEM, [], 0],
  ] as const)("of %s", (_what, facts, dimensions, size) => {
    expect(byteSize(facts, dimensions)).toBe(size);
  });
});

describe("specifiedByteSize", () => {
  it.each([
    ["a tensor whose extents are known", TENSOR_FLOAT32, [2, 3], 24],
    ["a tensor with an open extent", TENSOR_FLOAT32, [2, 0], undefined],
    ["a tensor of unknown rank", TENSOR_FLOAT32, [], undefined],
    ["a scalar", INT32, [], 4],
    ["a subgraph", SUBGRAPH, [], 0],
  ] as const)("of %s", (_what, facts, dimensions, size) => {
    expect(specifiedByteSize(facts, dimensions)).toBe(size);
    expect(isUnspecified(facts, dimensions)).toBe(size === undefined);
  });
});
