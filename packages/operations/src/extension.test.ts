import { OperandType, OperationType } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { defineOperation } from "./define.ts";
import {
  defineExtension,
  describeExtension,
  extensionCode,
  extensionTypes,
  factsByCode,
  factsIn,
  operandTypeText,
  operationText,
  splitExtensionCode,
  vocabularyOf,
} from "./extension.ts";
import { matchOperation } from "./match.ts";
import type { ExtensionOperandType } from "./operand-type.ts";
import { int32, tensor } from "./params.ts";

const name = "com.example.wide";
const types = extensionTypes(name, {
  INT64: { code: 0, kind: "scalar", array: BigInt64Array },
  TENSOR_COMPLEX64: { code: 7, kind: "tensor", array: Float32Array, numbersPerElement: 2 },
});
const widen = defineOperation({
  name: "WIDEN",
  code: 3,
  summary: "Makes complex numbers of real ones.",
  params: [tensor("input"), tensor("offset", types.INT64), int32("axis")],
  outputs: [tensor("output")],
  types: [["1.2", "TENSOR_FLOAT32", types.TENSOR_COMPLEX64]],
});
const wide = defineExtension({ name, operandTypes: types, operations: [widen] });

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

describe("vocabularyOf", () => {
  it("reads codes by the prefixes of the model", () => {
    for (const prefix of [1, 2, 0x7fff]) {
      const { operationByCode, operandTypeByCode } = vocabularyOf([{ name, prefix }], { extensions: [wide] });
      expect(operationByCode(prefix * 65536 + 3)).toBe(wide.operations[0]);
      expect(operandTypeByCode(prefix * 65536 + 7)).toBe(types.TENSOR_COMPLEX64);
      expect(operationByCode((prefix + 1) * 65536 + 3)).toBeUndefined();
      expect(operationByCode(prefix * 65536 + 4)).toBeUndefined();
      expect(operandTypeByCode(prefix * 65536 + 6)).toBeUndefined();
    }
  });

  it("knows the HAL's own codes, and no extension that is not given", () => {
    const { operationByCode, operandTypeByCode } = vocabularyOf([{ name, prefix: 1 }], {});
    expect(operationByCode(OperationType.ADD)?.name).toBe("ADD");
    expect(operandTypeByCode(OperandType.TENSOR_FLOAT32)).toBe("TENSOR_FLOAT32");
    expect(operationByCode(65536 + 3)).toBeUndefined();
    expect(operandTypeByCode(65536)).toBeUndefined();
    expect(operandTypeByCode(65535)).toBeUndefined();
  });
});

describe("the facts of types by code", () => {
  const prefixes = [{ name, prefix: 4 }];
  const complex = extensionCode(4, 7);

  it("come from what devices describe, or from definitions", () => {
    const described = factsByCode(prefixes, [describeExtension(wide)]);
    expect(described(OperandType.TENSOR_FLOAT32)).toEqual({ name: "TENSOR_FLOAT32", kind: "tensor", elementSize: 4 });
    expect(described(complex)).toEqual({ name: `${name} type 7`, kind: "tensor", elementSize: 8 });
    expect(described(extensionCode(4, 0))).toMatchObject({ kind: "scalar", elementSize: 8 });
    const defined = factsIn(vocabularyOf(prefixes, { extensions: [wide] }));
    expect(defined(OperandType.TENSOR_FLOAT32)).toEqual(described(OperandType.TENSOR_FLOAT32));
    expect(defined(complex)).toEqual({ name: `${name} TENSOR_COMPLEX64`, kind: "tensor", elementSize: 8 });
  });

  it("are undefined for types, prefixes and extensions that are not known", () => {
    for (const factsOf of [
      factsByCode(prefixes, [describeExtension(wide)]),
      factsIn(vocabularyOf(prefixes, { extensions: [wide] })),
    ]) {
      expect([777, extensionCode(4, 1), extensionCode(5, 7)].map(factsOf)).toEqual([undefined, undefined, undefined]);
    }
    expect(factsByCode(prefixes, [])(complex)).toBeUndefined();
  });
});

describe("codes as messages name them", () => {
  const prefixes = [{ name, prefix: 4 }];
  const vocabulary = vocabularyOf(prefixes, { extensions: [wide] });

  it("have the names of the HAL and of definitions", () => {
    expect(operandTypeText(OperandType.INT32)).toBe("INT32");
    expect(operationText(OperationType.ADD)).toBe("ADD");
    expect(operationText(OperationType.OEM_OPERATION)).toBe("OEM_OPERATION");
    expect(operandTypeText(extensionCode(4, 7), prefixes, vocabulary)).toBe(`${name} TENSOR_COMPLEX64`);
    expect(operationText(extensionCode(4, 3), prefixes, vocabulary)).toBe(`${name} WIDEN`);
  });

  it("have the extension's name and the code within it without a definition, and words without a prefix", () => {
    expect(operandTypeText(extensionCode(4, 7), prefixes)).toBe(`${name} type 7`);
    expect(operationText(extensionCode(4, 3), prefixes)).toBe(`${name} operation 3`);
    expect(operandTypeText(extensionCode(4, 9), prefixes, vocabulary)).toBe(`${name} type 9`);
    expect(operandTypeText(extensionCode(5, 7), prefixes)).toBe("operand type 7 of extension prefix 5");
    expect(operationText(0xffff_fffe)).toBe("operation type 65534 of extension prefix 65535");
    expect([operandTypeText(777), operandTypeText(-1), operationText(0.5)]).toEqual([
      "operand type 777",
      "operand type -1",
      "operation type 0.5",
    ]);
  });
});

describe("prefixes and definitions", () => {
  const uint16 = fc.integer({ min: 0, max: 0xffff });
  const nameOf = fc.stringMatching(/^[a-z0-9_]{1,6}(\.[a-z0-9_]{1,6}){1,3}$/);
  const codes = fc.uniqueArray(uint16, { maxLength: 5 });
  const extensionsOf = fc.uniqueArray(
    fc.record({ name: nameOf, types: codes, operations: codes, prefix: fc.integer({ min: 1, max: 0xffff }) }),
    {
      selector: ({ name: own }) => own,
      maxLength: 4,
    },
  );

  it("extensionCode and splitExtensionCode are inverse", () => {
    fc.assert(
      fc.property(uint16, uint16, (prefix, code) => {
        expect(splitExtensionCode(extensionCode(prefix, code))).toEqual({ prefix, code });
      }),
    );
  });

  it("a vocabulary finds each type and operation under its own code, and nothing else", () => {
    fc.assert(
      fc.property(extensionsOf, fc.tuple(uint16, uint16), (specs, [strangePrefix, strangeCode]) => {
        const used = specs.filter(({ prefix }, index) => specs.findIndex((other) => other.prefix === prefix) === index);
        const extensions = specs.map(({ name: own, types: typeCodes, operations }) =>
          defineExtension({
            name: own,
            operandTypes: extensionTypes(
              own,
              Object.fromEntries(
                typeCodes.map((code) => [`T${code}`, { code, kind: "tensor", array: Int16Array } as const]),
              ),
            ),
            operations: operations.map((code) => ({ ...widen, name: `O${code}`, code })),
          }),
        );
        const prefixes = used.map(({ name: own, prefix }) => ({ name: own, prefix }));
        const { operandTypeByCode, operationByCode } = vocabularyOf(prefixes, { extensions });
        for (const { name: own, prefix, types: typeCodes, operations } of used) {
          for (const code of typeCodes) {
            expect(operandTypeByCode(extensionCode(prefix, code))).toMatchObject({ extension: own, code });
          }
          for (const code of operations) {
            expect(operationByCode(extensionCode(prefix, code))).toMatchObject({ extension: own, code });
          }
        }
        const owner = used.find(({ prefix }) => prefix === strangePrefix);
        if (strangePrefix === 0 || owner?.types.includes(strangeCode)) return;
        expect(operandTypeByCode(extensionCode(strangePrefix, strangeCode))).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});
