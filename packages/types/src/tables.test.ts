import { describe, expect, it } from "vitest";
import {
  deviceTypes,
  type EnumTable,
  errorStatuses,
  executionPreferences,
  fusedActivationFuncs,
  halVersions,
  hidlVersions,
  OperandType,
  OperandTypeRange,
  OperationType,
  OperationTypeRange,
  operandLifeTimes,
  operandTypeNames,
  operandTypes,
  operationTypeNames,
  operationTypes,
  priorities,
} from "./index.ts";

const tables: Record<string, EnumTable> = {
  deviceTypes,
  errorStatuses,
  executionPreferences,
  fusedActivationFuncs,
  operandLifeTimes,
  operandTypes,
  operationTypes,
  priorities,
};

function countBySince(table: EnumTable, greatestCode: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code, since } of Object.values(table)) {
    if (code <= greatestCode) counts[since] = (counts[since] ?? 0) + 1;
  }
  return counts;
}

describe("enum tables", () => {
  it.each(Object.entries(tables))("%s has no code twice and known versions only", (_name, table) => {
    const codes = Object.values(table).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    for (const { since } of Object.values(table)) expect(halVersions).toContain(since);
  });

  it("has the 106 operations of AIDL 4 in the versions that introduced them, and OEM_OPERATION", () => {
    expect(countBySince(operationTypes, 105)).toEqual({ "1.0": 29, "1.1": 9, "1.2": 57, "1.3": 7, aidl2: 2, aidl3: 2 });
    expect(OperationType.OEM_OPERATION).toBe(10000);
    expect(Object.keys(operationTypes)).toHaveLength(107);
  });

  it("has the 16 operand types of HAL 1.3 in the versions that introduced them, and the two OEM types", () => {
    expect(countBySince(operandTypes, 15)).toEqual({ "1.0": 6, "1.2": 8, "1.3": 2 });
    expect([OperandType.OEM, OperandType.TENSOR_OEM_BYTE]).toEqual([10000, 10001]);
    expect(Object.keys(operandTypes)).toHaveLength(18);
  });

  it.each(hidlVersions)("has every fundamental code of HAL %s up to the greatest", (version) => {
    const codesOf = (table: EnumTable, oem: number) =>
      Object.values(table)
        .filter(({ code, since }) => since <= version && code < oem)
        .map(({ code }) => code);
    expect(Math.max(...codesOf(operationTypes, 10000))).toBe(OperationTypeRange.FUNDAMENTAL_MAX[version]);
    expect(Math.max(...codesOf(operandTypes, 10000))).toBe(OperandTypeRange.FUNDAMENTAL_MAX[version]);
    expect(codesOf(operationTypes, 10000)).toHaveLength(OperationTypeRange.FUNDAMENTAL_MAX[version] + 1);
    expect(codesOf(operandTypes, 10000)).toHaveLength(OperandTypeRange.FUNDAMENTAL_MAX[version] + 1);
  });

  it("finds names by code, and none for codes of extensions", () => {
    expect(operationTypeNames.get(OperationType.CONV_2D)).toBe("CONV_2D");
    expect(operandTypeNames.get(OperandType.TENSOR_QUANT8_ASYMM_SIGNED)).toBe("TENSOR_QUANT8_ASYMM_SIGNED");
    expect(operandTypeNames.get(0x1_0000)).toBeUndefined();
  });

  it("gives a zero point range exactly to asymmetric types", () => {
    for (const row of Object.values(operandTypes)) {
      expect("zeroPointRange" in row).toBe(row.quantisation === "asymmetric");
    }
  });
});
