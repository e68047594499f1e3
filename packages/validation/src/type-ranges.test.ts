import {
  hidlVersions,
  OperandType,
  OperandTypeRange,
  OperationType,
  OperationTypeRange,
  operandTypes,
  operationTypes,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { validateExecutionPreference, validatePriority, validOperandType, validOperationType } from "./index.ts";

describe.each(hidlVersions)("at HAL %s (rule 55)", (version) => {
  it("the fundamental operand types are known up to the last, and the OEM's", () => {
    const last = OperandTypeRange.FUNDAMENTAL_MAX[version];
    for (let code = 0; code <= last; code++) expect(validOperandType(code, version)).toBe(true);
    for (const code of [-1, last + 1, 9999, 10002, 0xffff, 0.5, Number.NaN, 2 ** 32])
      expect(validOperandType(code, version)).toBe(false);
    expect(validOperandType(OperandType.OEM, version)).toBe(true);
    expect(validOperandType(OperandType.TENSOR_OEM_BYTE, version)).toBe(true);
  });

  it("the operations are known up to the last, and the OEM's", () => {
    const last = OperationTypeRange.FUNDAMENTAL_MAX[version];
    for (let code = 0; code <= last; code++) expect(validOperationType(code, version)).toBe(true);
    for (const code of [-1, last + 1, 9999, 10001, 0xffff, 0.5, Number.NaN, 2 ** 32])
      expect(validOperationType(code, version)).toBe(false);
    expect(validOperationType(OperationType.OEM_OPERATION, version)).toBe(true);
  });

  it("extensions' codes are known since 1.2", () => {
    for (const code of [0x1_0000, 0xffff_ffff]) {
      expect(validOperandType(code, version)).toBe(version >= "1.2");
      expect(validOperationType(code, version)).toBe(version >= "1.2");
    }
  });

  it("every member of the tables is known from its version on", () => {
    for (const { code, since } of Object.values(operandTypes))
      expect(validOperandType(code, version)).toBe(since <= version);
    for (const { code, since } of Object.values(operationTypes))
      expect(validOperationType(code, version)).toBe(since <= version);
  });
});

describe("hints", () => {
  it.each([
    ["preference (rule 51)", validateExecutionPreference],
    ["priority (rule 52)", validatePriority],
  ])("the %s is 0, 1 or 2", (_, validate) => {
    for (const right of [0, 1, 2]) expect(validate(right)).toBe(true);
    for (const wrong of [-1, 3, 0.5, Number.NaN, "1", null, undefined, 1n, {}]) expect(validate(wrong)).toBe(false);
  });
});
