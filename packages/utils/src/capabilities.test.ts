import { OperandType } from "@nnhal/types";
import { validateCapabilities } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { lookup, nonExtensionOperandPerformance, noPerformanceInfo, update } from "./capabilities.ts";

const one = { execTime: 1, powerUsage: 1 };
const fast = { execTime: 0.5, powerUsage: 2 };

describe("nonExtensionOperandPerformance", () => {
  it.each([
    ["1.2", 16],
    ["1.3", 17],
  ] as const)("has every type of HAL %s but SUBGRAPH, sorted", (version, count) => {
    const list = nonExtensionOperandPerformance(one, version);
    expect(list).toHaveLength(count);
    const types = list.map(({ type }) => type);
    expect(types).toEqual([...types].sort((a, b) => a - b));
    expect(types).not.toContain(OperandType.SUBGRAPH);
    expect(types.includes(OperandType.TENSOR_QUANT8_ASYMM_SIGNED)).toBe(version === "1.3");
    expect(types.slice(-2)).toEqual([OperandType.OEM, OperandType.TENSOR_OEM_BYTE]);
    expect(list.every(({ info }) => info === one)).toBe(true);
  });

  it("makes capabilities that validation accepts", () => {
    const capabilities = {
      relaxedFloat32toFloat16PerformanceScalar: one,
      relaxedFloat32toFloat16PerformanceTensor: one,
      operandPerformance: nonExtensionOperandPerformance(one),
      ifPerformance: one,
      whilePerformance: one,
    };
    expect(validateCapabilities(capabilities)).toBe(true);
  });
});

describe("update", () => {
  it("changes the performance of one type and leaves the list it was given", () => {
    const list = nonExtensionOperandPerformance(one);
    const updated = update(list, OperandType.TENSOR_FLOAT16, fast);
    expect(lookup(updated, OperandType.TENSOR_FLOAT16)).toBe(fast);
    expect(updated.filter(({ info }) => info === fast)).toHaveLength(1);
    expect(lookup(list, OperandType.TENSOR_FLOAT16)).toBe(one);
  });

  it("refuses a type that is not in the list, rather than change its neighbour", () => {
    const list = [{ type: OperandType.TENSOR_FLOAT32, info: one }];
    expect(() => update(list, OperandType.FLOAT32, fast)).toThrow(
      new RangeError("the list has no performance of FLOAT32 to update"),
    );
  });
});

describe("lookup", () => {
  const list = [
    { type: OperandType.FLOAT32, info: fast },
    { type: OperandType.TENSOR_FLOAT32, info: one },
  ];

  it("finds the type itself", () => {
    expect(lookup(list, OperandType.FLOAT32)).toBe(fast);
    expect(lookup(list, OperandType.TENSOR_FLOAT32)).toBe(one);
  });

  it.each(["INT32", "TENSOR_OEM_BYTE"] as const)("knows of no performance of %s, which is not there", (name) => {
    expect(lookup(list, OperandType[name])).toBe(noPerformanceInfo);
    expect(noPerformanceInfo.execTime).toBe(Math.fround(3.4028234663852886e38));
  });

  it("refuses SUBGRAPH", () => {
    expect(() => lookup(list, OperandType.SUBGRAPH)).toThrow("use ifPerformance or whilePerformance");
  });
});
