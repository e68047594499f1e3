/**
 * How fast the engines are beside the reference: times relative to it, as bench/capabilities.ts measures them, and the power used
 * taken to be in proportion, since both run on the CPU.
 */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";
import type { EngineName } from "./engine.ts";

interface Speed {
  readonly float: number;
  readonly quantised: number;
}

const speeds: Readonly<Record<EngineName, Speed>> = {
  node: { float: 0.05, quantised: 0.2 },
  wasm: { float: 0.1, quantised: 0.5 },
  cpu: { float: 1, quantised: 2 },
};

const floats: readonly number[] = [
  OperandType.FLOAT32,
  OperandType.FLOAT16,
  OperandType.TENSOR_FLOAT32,
  OperandType.TENSOR_FLOAT16,
];

/** The capabilities of the backend on an engine. */
export function capabilitiesOf(engine: EngineName): Capabilities {
  const { float, quantised } = speeds[engine];
  const info = (time: number): PerformanceInfo => ({ execTime: time, powerUsage: time });
  return {
    relaxedFloat32toFloat16PerformanceScalar: info(float),
    relaxedFloat32toFloat16PerformanceTensor: info(float),
    operandPerformance: Object.values(OperandType)
      .filter((type) => type !== OperandType.SUBGRAPH)
      .sort((a, b) => a - b)
      .map((type) => ({ type, info: info(floats.includes(type) ? float : quantised) })),
    ifPerformance: info(1),
    whilePerformance: info(1),
  };
}
