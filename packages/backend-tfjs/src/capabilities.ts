/**
 * How fast the engines are beside the reference, which has 1 in everything: the numbers that bench/capabilities.ts gives on a
 * two-core x86 machine, and the power used taken to be in proportion, since both run on the CPU.
 */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";
import type { EngineName } from "./engine.ts";

/** Times relative to the reference; types that are neither go with the quantised ones. */
interface Speed {
  readonly float: number;
  readonly quantised: number;
}

/** The native library of tfjs-node was not there to be measured; it is taken to be no slower than WebAssembly. */
const speeds: Readonly<Record<EngineName, Speed>> = {
  node: { float: 0.12, quantised: 0.15 },
  wasm: { float: 0.12, quantised: 0.15 },
  cpu: { float: 2.7, quantised: 4 },
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
