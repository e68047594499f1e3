import { OperandType } from "@nnhal/types";
import { expect, it } from "vitest";
import { capabilitiesOf } from "./capabilities.ts";

const capabilities = capabilitiesOf({ float: 0.5, quantised: 2 });
const timeOf = (code: number) => capabilities.operandPerformance.find(({ type }) => type === code)?.info.execTime;

it("name every type but SUBGRAPH once, with the time of its kind", () => {
  const types = capabilities.operandPerformance.map(({ type }) => type);
  expect(types).toEqual([...new Set(types)].sort((a, b) => a - b));
  expect(types).toHaveLength(Object.keys(OperandType).length - 1);
  expect(timeOf(OperandType.SUBGRAPH)).toBeUndefined();
  expect([OperandType.TENSOR_FLOAT32, OperandType.FLOAT16].map(timeOf)).toEqual([0.5, 0.5]);
  expect([OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_INT32].map(timeOf)).toEqual([2, 2]);
  expect(capabilities.relaxedFloat32toFloat16PerformanceTensor.execTime).toBe(0.5);
});
