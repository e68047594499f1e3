import type { Extension } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { modelExtensions } from "./extensions.ts";

const tensor = { type: 1, isTensor: true, byteSize: 8 };
const scalar = { type: 0, isTensor: false, byteSize: 2 };
const example: Extension = { name: "com.example.a", operandTypes: [scalar, tensor] };

describe("modelExtensions", () => {
  it("counts prefixes from 1 in the order of first use, around those that are taken", () => {
    const fresh = modelExtensions([]);
    expect(["b", "a", "b"].map(fresh.prefixOf)).toEqual([1, 2, 1]);
    const some = modelExtensions([], [{ name: "x", prefix: 2 }]);
    expect(["x", "a", "b"].map(some.prefixOf)).toEqual([2, 1, 3]);
    expect([1, 2, 3, 4].map(some.nameOf)).toEqual(["a", "x", "b", undefined]);
  });

  it("has no prefix for more extensions than there are prefixes", () => {
    const { prefixOf } = modelExtensions([]);
    let last: number | undefined;
    for (let index = 1; index <= 0x7fff; index++) last = prefixOf(`e${index}`);
    expect(last).toBe(0x7fff);
    expect(prefixOf("one.more")).toBeUndefined();
    expect(prefixOf("e7")).toBe(7);
    expect(modelExtensions([], [{ name: "x", prefix: 0xffff }]).prefixOf("a")).toBe(1);
  });

  it("knows the HAL's types and those that are described", () => {
    const { factsOf, prefixOf } = modelExtensions([example]);
    expect(factsOf(3)).toEqual({ name: "TENSOR_FLOAT32", kind: "tensor", elementSize: 4 });
    expect(factsOf(777)).toBeUndefined();
    expect(factsOf(0x1_0001)).toBeUndefined();
    prefixOf("com.example.a");
    expect(factsOf(0x1_0001)).toEqual({ name: "com.example.a type 1", kind: "tensor", elementSize: 8 });
    expect(factsOf(0x1_0000)).toMatchObject({ kind: "scalar", elementSize: 2 });
    expect(factsOf(0x1_0002)).toBeUndefined();
  });
});
