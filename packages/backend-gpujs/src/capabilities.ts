/**
 * How fast the modes are beside the reference, which has 1 in everything: the numbers that bench/capabilities.ts gives on a
 * two-core x86 machine, and the power used taken to be in proportion.
 */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";
import type { Machine, ModeName } from "./machine/machine.ts";

/** Times relative to the reference; types that are neither go with the quantised ones. */
interface Speed {
  readonly float: number;
  readonly quantised: number;
}

/** A driver that computes with the processor, by what adapters are called. */
const software = /llvmpipe|lavapipe|swiftshader|software/i;

/**
 * There was no graphics card to be measured: for WebGPU one is taken to be no slower than WebAssembly; OpenGL, where a card is not told
 * from a driver that computes with the processor, has the times of the latter.
 */
const measured = {
  webasm: { float: 0.66, quantised: 0.53 },
  cpu: { float: 0.98, quantised: 0.87 },
  webgpu: { float: 1.8, quantised: 1.5 },
  headlessgl: { float: 3.6, quantised: 3 },
} as const satisfies Readonly<Record<ModeName, Speed>>;

function speedOf({ mode, adapter = "" }: Pick<Machine, "mode" | "adapter">): Speed {
  return measured[mode === "webgpu" && !software.test(adapter) ? "webasm" : mode];
}

const floats: readonly number[] = [
  OperandType.FLOAT32,
  OperandType.FLOAT16,
  OperandType.TENSOR_FLOAT32,
  OperandType.TENSOR_FLOAT16,
];

/** The capabilities of the backend on a machine. */
export function capabilitiesOf(machine: Pick<Machine, "mode" | "adapter">): Capabilities {
  const { float, quantised } = speedOf(machine);
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
