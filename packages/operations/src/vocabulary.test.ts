import { OperandType, OperationType } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineExtension, describeExtension, extensionCode, extensionTypes, splitExtensionCode } from "./extension.ts";
import { factsByCode, factsIn, operandTypeText, operationText, vocabularyOf } from "./vocabulary.ts";
import { name, types, wide, widen } from "./wide-extension.test-helper.ts";

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
