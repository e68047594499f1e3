import { OperandType, OperationType } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  alignBytesNeeded,
  getOperandTypeName,
  getOperationName,
  isExtensionOperandType,
  isExtensionOperationType,
  nonExtensionOperandSizeOfData,
  nonExtensionOperandSizeOfDataOverflowsUInt32,
  nonExtensionOperandTypeIsScalar,
  sizeOfTensorData,
  tensorHasUnspecifiedDimensions,
} from "./operand.ts";

const extension = 0x1_0003;

describe("extension codes", () => {
  it.each([
    [0, false],
    [OperandType.TENSOR_OEM_BYTE, false],
    [0xffff, false],
    [0x1_0000, true],
    [0xffff_ffff, true],
    [0x1_0000_0000, false],
    [65536.5, false],
    [-1, false],
  ])("%s: %s", (code, expected) => {
    expect(isExtensionOperandType(code)).toBe(expected);
    expect(isExtensionOperationType(code)).toBe(expected);
  });
});

describe("names", () => {
  it("are the HAL's, and describe codes that have none", () => {
    expect(getOperandTypeName(OperandType.TENSOR_QUANT8_ASYMM)).toBe("TENSOR_QUANT8_ASYMM");
    expect(getOperandTypeName(16)).toBe("operand type 16");
    expect(getOperandTypeName(extension)).toBe("operand type 3 of extension prefix 1");
    expect(getOperationName(OperationType.CONV_2D)).toBe("CONV_2D");
    expect(getOperationName(0xfffe_0001)).toBe("operation type 1 of extension prefix 65534");
    expect(getOperationName(106)).toBe("operation type 106");
  });
});

describe("nonExtensionOperandTypeIsScalar", () => {
  it.each([
    ["FLOAT32", true],
    ["FLOAT16", true],
    ["BOOL", true],
    ["SUBGRAPH", true],
    ["OEM", true],
    ["TENSOR_FLOAT32", false],
    ["TENSOR_OEM_BYTE", false],
  ] as const)("%s: %s", (name, expected) => {
    expect(nonExtensionOperandTypeIsScalar(OperandType[name])).toBe(expected);
  });

  it("refuses types that are not the HAL's own", () => {
    expect(() => nonExtensionOperandTypeIsScalar(extension)).toThrow(
      new RangeError("operand type 3 of extension prefix 1 is not one of the HAL's own types"),
    );
    expect(() => nonExtensionOperandTypeIsScalar(16)).toThrow("operand type 16 is not one of the HAL's own types");
  });
});

describe("nonExtensionOperandSizeOfData", () => {
  it.each([
    ["FLOAT32", [], 4],
    ["FLOAT16", [], 2],
    ["BOOL", [], 1],
    ["OEM", [], 0],
    ["SUBGRAPH", [], 0],
    ["TENSOR_FLOAT32", [2, 3], 24],
    ["TENSOR_QUANT16_SYMM", [5], 10],
    ["TENSOR_QUANT8_ASYMM_SIGNED", [5], 5],
    ["TENSOR_OEM_BYTE", [7], 7],
    ["TENSOR_FLOAT32", [], 0],
    ["TENSOR_FLOAT32", [2, 0], 0],
    ["TENSOR_FLOAT32", [0xffff_ffff, 0xffff_ffff, 0], 0],
    ["TENSOR_QUANT8_ASYMM", [0xffff_ffff], 0xffff_ffff],
  ] as const)("%s %j takes %i bytes", (name, dimensions, expected) => {
    expect(nonExtensionOperandSizeOfData(OperandType[name], dimensions)).toBe(expected);
    expect(nonExtensionOperandSizeOfDataOverflowsUInt32(OperandType[name], dimensions)).toBe(false);
  });

  it("refuses what is larger than 32 bits can say", () => {
    const tooLarge = [0x4000_0000];
    expect(nonExtensionOperandSizeOfDataOverflowsUInt32(OperandType.TENSOR_FLOAT32, tooLarge)).toBe(true);
    expect(() => nonExtensionOperandSizeOfData(OperandType.TENSOR_FLOAT32, tooLarge)).toThrow(
      new RangeError("a tensor of 1073741824 elements of 4 bytes is larger than 4294967295 bytes"),
    );
    const farTooLarge = Array.from({ length: 40 }, () => 0xffff_ffff);
    expect(nonExtensionOperandSizeOfDataOverflowsUInt32(OperandType.TENSOR_FLOAT32, farTooLarge)).toBe(true);
  });

  it("refuses extension types", () => {
    expect(() => nonExtensionOperandSizeOfData(extension, [1])).toThrow(RangeError);
    expect(() => nonExtensionOperandSizeOfDataOverflowsUInt32(extension, [1])).toThrow(RangeError);
  });

  it("is the product of known extents and element size", () => {
    const extents = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(extents, fc.constantFrom(1, 2, 4), (dimensions, size) => {
        expect(sizeOfTensorData(size, dimensions)).toBe(size * dimensions.reduce((a, b) => a * b));
      }),
    );
  });
});

describe("tensorHasUnspecifiedDimensions", () => {
  it.each([
    ["a tensor of unknown rank", OperandType.TENSOR_INT32, [], true],
    ["a tensor with an unknown extent", OperandType.TENSOR_INT32, [2, 0], true],
    ["a tensor that is known", OperandType.TENSOR_INT32, [2, 1], false],
    ["a scalar", OperandType.INT32, [], false],
    ["an extension's operand without dimensions", extension, [], false],
    ["an extension's tensor with an unknown extent", extension, [0], true],
    ["an extension's tensor that is known", extension, [3], false],
  ])("%s", (_name, type, dimensions, expected) => {
    expect(tensorHasUnspecifiedDimensions(type, dimensions)).toBe(expected);
  });
});

describe("alignBytesNeeded", () => {
  it.each([
    [5, 0, 0],
    [5, 1, 0],
    [4, 2, 0],
    [5, 2, 1],
    [5, 3, 1],
    [4, 4, 0],
    [5, 4, 3],
    [6, 4, 2],
    [7, 100, 1],
  ])("at %i, %i bytes need %i more", (index, length, expected) => {
    expect(alignBytesNeeded(index, length)).toBe(expected);
  });
});
