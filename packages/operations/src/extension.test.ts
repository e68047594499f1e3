import { describe, expect, expectTypeOf, it } from "vitest";
import { defineExtension, describeExtension, extensionCode, extensionTypes, splitExtensionCode } from "./extension.ts";
import { matchOperation } from "./match.ts";
import type { ExtensionOperandType } from "./operand-type.ts";
import { name, types, wide, widen } from "./wide-extension.test-helper.ts";

describe("extensionTypes", () => {
  it("returns each type with its extension, name, size and array", () => {
    expect(types.INT64).toEqual({
      extension: name,
      name: "INT64",
      code: 0,
      kind: "scalar",
      elementSize: 8,
      array: BigInt64Array,
    });
    expect(types.TENSOR_COMPLEX64).toMatchObject({ elementSize: 8, array: Float32Array });
    expectTypeOf(types.INT64).toExtend<ExtensionOperandType<BigInt64Array>>();
    expectTypeOf(types.TENSOR_COMPLEX64).not.toExtend<ExtensionOperandType<BigInt64Array>>();
  });

  it.each(["nodot", "Com.example", "com.example.", ".com", "com..example", "com.exa mple", ""])(
    "refuses the name %j",
    (bad) => {
      expect(() => extensionTypes(bad, {})).toThrow(`${JSON.stringify(bad)} is not a valid name of an extension`);
    },
  );

  it.each([-1, 65536, 0.5, Number.NaN])("refuses code %s", (code) => {
    const spec = { A: { code, kind: "scalar", array: Int8Array } } as const;
    expect(() => extensionTypes(name, spec)).toThrow(
      `${name} A has code ${code}; codes within an extension are 0 to 65535`,
    );
  });

  it("accepts the codes 0 and 65535, but none twice", () => {
    const spec = (code: number) => ({ code, kind: "scalar", array: Int8Array }) as const;
    expect(() => extensionTypes(name, { A: spec(0), B: spec(65535) })).not.toThrow();
    expect(() => extensionTypes(name, { A: spec(5), B: spec(5) })).toThrow("A and B have the same code 5");
  });
});

describe("defineExtension", () => {
  it("has types and operations, which know their extension", () => {
    expect(wide.name).toBe(name);
    expect(wide.operandTypes).toEqual([types.INT64, types.TENSOR_COMPLEX64]);
    expect(wide.operations.map(({ extension, code }) => [extension, code])).toEqual([[name, 3]]);
  });

  it("refuses an invalid name, types of another extension, and operations with one code", () => {
    expect(() => defineExtension({ name: "wide" })).toThrow('"wide" is not a valid name of an extension');
    expect(() => defineExtension({ name: "com.example.other", operandTypes: types })).toThrow(
      `extension com.example.other: its type INT64 is of the extension ${name}`,
    );
    expect(() => defineExtension({ name, operations: [widen, { ...widen, name: "AGAIN" }] })).toThrow(
      `extension ${name}: WIDEN and AGAIN have the same code 3`,
    );
    expect(() => defineExtension({ name, operations: [{ ...widen, code: 65536 }] })).toThrow("has code 65536");
    expect(() => defineExtension({ name, operations: [{ ...widen, controlFlow: true }] })).toThrow(
      "WIDEN cannot be control flow",
    );
  });

  it("is described as devices describe it", () => {
    expect(describeExtension(wide)).toEqual({
      name,
      operandTypes: [
        { type: 0, isTensor: false, byteSize: 8 },
        { type: 7, isTensor: true, byteSize: 8 },
      ],
    });
  });
});

describe("an operation on types of an extension", () => {
  const inputs = ["TENSOR_FLOAT32", types.INT64, "INT32"] as const;

  it("matches them, and copies of their descriptions", () => {
    expect(matchOperation(widen, inputs, [types.TENSOR_COMPLEX64])).toMatchObject({ since: "1.2" });
    const copies = extensionTypes(name, {
      INT64: { code: 0, kind: "scalar", array: BigInt64Array },
      TENSOR_COMPLEX64: { code: 7, kind: "tensor", array: Float32Array, numbersPerElement: 2 },
    });
    expect(matchOperation(widen, ["TENSOR_FLOAT32", copies.INT64, "INT32"], [copies.TENSOR_COMPLEX64])).toHaveProperty(
      "row",
    );
  });

  it("names the types that do not fit", () => {
    const foreign = extensionTypes("com.example.other", { INT64: { code: 0, kind: "scalar", array: BigInt64Array } });
    const mismatch = (given: Parameters<typeof matchOperation>[1]) =>
      matchOperation(widen, given, [types.TENSOR_COMPLEX64]);
    expect(mismatch(["TENSOR_FLOAT32", "INT32", "INT32"])).toEqual({
      mismatch: `input 1 (offset): expected ${name} INT64, got INT32`,
    });
    expect(mismatch(["TENSOR_FLOAT32", foreign.INT64, "INT32"])).toEqual({
      mismatch: `input 1 (offset): expected ${name} INT64, got com.example.other INT64`,
    });
    expect(mismatch(["TENSOR_FLOAT32", undefined, "INT32"])).toEqual({
      mismatch: `input 1 (offset): expected ${name} INT64, got an extension type`,
    });
  });
});

describe("extensionCode", () => {
  it.each([
    [1, 0, 0x1_0000],
    [1, 0xffff, 0x1_ffff],
    [0xffff, 0xffff, 0xffff_ffff],
  ])("joins prefix %i and code %i to %i, and back", (prefix, code, joined) => {
    expect(extensionCode(prefix, code)).toBe(joined);
    expect(splitExtensionCode(joined)).toEqual({ prefix, code });
  });
});
