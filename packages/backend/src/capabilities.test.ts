import { OperandType } from "@nnhal/types";
import { expect, it } from "vitest";
import { capabilitiesOf, powerBasisOf, type RelativeTimes } from "./capabilities.ts";

const capabilities = capabilitiesOf({ float: 0.5, quantised: 2 });
const timeOf = (code: number) => capabilities.operandPerformance.find(({ type }) => type === code)?.info.execTime;

it("name every type except SUBGRAPH once, with the time of its kind", () => {
  const types = capabilities.operandPerformance.map(({ type }) => type);
  expect(types).toEqual([...new Set(types)].sort((a, b) => a - b));
  expect(types).toHaveLength(Object.keys(OperandType).length - 1);
  expect(timeOf(OperandType.SUBGRAPH)).toBeUndefined();
  expect([OperandType.TENSOR_FLOAT32, OperandType.FLOAT16].map(timeOf)).toEqual([0.5, 0.5]);
  expect([OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_INT32].map(timeOf)).toEqual([2, 2]);
  expect(capabilities.relaxedFloat32toFloat16PerformanceTensor.execTime).toBe(0.5);
});

it("have the measured energy, or the time if it was not measured", () => {
  const powerOf = (times: RelativeTimes, code: number) =>
    capabilitiesOf(times).operandPerformance.find(({ type }) => type === code)?.info.powerUsage;
  const derived = { float: 0.5, quantised: 2 };
  const measured = { ...derived, energy: { float: 0.7, quantised: 3 } };
  const { TENSOR_FLOAT32, TENSOR_INT32 } = OperandType;
  expect([TENSOR_FLOAT32, TENSOR_INT32].map((code) => powerOf(derived, code))).toEqual([0.5, 2]);
  expect([TENSOR_FLOAT32, TENSOR_INT32].map((code) => powerOf(measured, code))).toEqual([0.7, 3]);
  expect(capabilitiesOf(measured).relaxedFloat32toFloat16PerformanceTensor).toEqual({ execTime: 0.5, powerUsage: 0.7 });
  expect([derived, measured].map(powerBasisOf)).toEqual(["derived", "measured"]);
});
