/**
 * How fast the modes are beside the reference, which has 1 in everything: the numbers that bench/capabilities.ts gives on a
 * two-core x86 machine, and the power used taken to be in proportion.
 */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";
import type { ModeName } from "./machine/machine.ts";

/** Times relative to the reference, for floats. What is not float is hardly ever here, and never preferred. */
const speeds: Readonly<Record<ModeName, number>> = {
  webgpu: 1,
  headlessgl: 1,
  webasm: 1,
  cpu: 1,
};

const floats: readonly number[] = [
  OperandType.FLOAT32,
  OperandType.FLOAT16,
  OperandType.TENSOR_FLOAT32,
  OperandType.TENSOR_FLOAT16,
];

/** The capabilities of the backend in a mode. */
export function capabilitiesOf(mode: ModeName): Capabilities {
  const time = speeds[mode];
  const info = (each: number): PerformanceInfo => ({ execTime: each, powerUsage: each });
  return {
    relaxedFloat32toFloat16PerformanceScalar: info(time),
    relaxedFloat32toFloat16PerformanceTensor: info(time),
    operandPerformance: Object.values(OperandType)
      .filter((type) => type !== OperandType.SUBGRAPH)
      .sort((a, b) => a - b)
      .map((type) => ({ type, info: info(floats.includes(type) ? time : Math.max(1, time)) })),
    ifPerformance: info(1),
    whilePerformance: info(1),
  };
}
