import { changePart, listRules } from "@nnhal/test-kit/models";
import { type Capabilities, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { capabilitiesIssues, validateCapabilities } from "./index.ts";

const info = { execTime: 0.5, powerUsage: 2 };
const control: Capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: info,
  relaxedFloat32toFloat16PerformanceTensor: info,
  ifPerformance: info,
  whilePerformance: info,
  operandPerformance: [
    { type: OperandType.FLOAT32, info },
    { type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED, info },
    { type: OperandType.OEM, info },
  ],
};

function issuesOf(path: string, value: unknown): string[] {
  return listRules(capabilitiesIssues(changePart(control, path, value)));
}

describe("capabilities", () => {
  it("of the control are valid", () => {
    expect(capabilitiesIssues(control)).toEqual([]);
    expect(validateCapabilities(control)).toBe(true);
    expect(issuesOf("operandPerformance", [])).toEqual([]);
  });

  it.each([
    "relaxedFloat32toFloat16PerformanceScalar",
    "relaxedFloat32toFloat16PerformanceTensor",
    "ifPerformance",
    "whilePerformance",
    "operandPerformance[1].info",
  ])("are positive: %s (rule 61)", (path) => {
    for (const field of ["execTime", "powerUsage"]) {
      for (const right of [1e-30, 1, 3.4e38]) expect(issuesOf(`${path}.${field}`, right)).toEqual([]);
      for (const wrong of [0, -1, Number.NaN, "1", undefined, 1n]) {
        expect(issuesOf(`${path}.${field}`, wrong)).toEqual([`capabilities-performance ${path}.${field}`]);
      }
    }
    expect(issuesOf(path, null)).toEqual([`structure ${path}`]);
  });

  it("are sorted by type, each type once (rule 62)", () => {
    const path = "operandPerformance[1].type";
    expect(issuesOf(path, OperandType.INT32)).toEqual([]);
    expect(issuesOf(path, OperandType.FLOAT32)).toEqual([`capabilities-order ${path}`]);
    expect(issuesOf(path, OperandType.TENSOR_OEM_BYTE)).toEqual(["capabilities-order operandPerformance[2].type"]);
  });

  it("are about types of the HAL's own, but not about SUBGRAPH (rule 63)", () => {
    const path = "operandPerformance[1].type";
    for (const type of [OperandType.SUBGRAPH, 16, 0x1_0000, -1, Number.NaN, "FLOAT32"]) {
      expect(issuesOf(path, type)).toEqual([`capabilities-type ${path}`]);
    }
  });

  it("are as declared (rule 56)", () => {
    expect(issuesOf("operandPerformance", undefined)).toEqual(["structure operandPerformance"]);
    expect(issuesOf("operandPerformance[0]", null)).toEqual(["structure operandPerformance[0]"]);
    for (const garbage of [null, undefined, 5]) {
      const { capabilities } = changePart({ capabilities: control }, "capabilities", garbage);
      expect(listRules(capabilitiesIssues(capabilities))).toEqual(["structure capabilities"]);
    }
  });
});
