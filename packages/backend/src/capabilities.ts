/** Capabilities from a few figures, for backends whose speed depends on the kind of element only. */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";

/** A figure for each kind of element, relative to the reference backend, which has 1. Types that are not floats count as quantised. */
export interface RelativeFigures {
  readonly float: number;
  readonly quantised: number;
}

/** Time and energy of operations, relative to the reference backend. */
export interface RelativeTimes extends RelativeFigures {
  /** The energy, if it was measured. Default: proportional to the time. */
  readonly energy?: RelativeFigures;
}

/**
 * The source of a device's figures for `powerUsage`: `measured` with energy counters, `derived` from the time, or `reference` for the
 * device that all figures are relative to.
 */
export type PowerBasis = "measured" | "derived" | "reference";

/** Returns the source of some energy figures: measured, or derived from the time. */
export function powerBasisOf({ energy }: RelativeTimes): PowerBasis {
  return energy === undefined ? "derived" : "measured";
}

const floats: readonly number[] = [
  OperandType.FLOAT32,
  OperandType.FLOAT16,
  OperandType.TENSOR_FLOAT32,
  OperandType.TENSOR_FLOAT16,
];

/** Capabilities for every operand type. IF and WHILE themselves have the figures of the reference. */
export function capabilitiesOf(times: RelativeTimes): Capabilities {
  const { energy = times } = times;
  const info = (kind: keyof RelativeFigures): PerformanceInfo => ({ execTime: times[kind], powerUsage: energy[kind] });
  const reference: PerformanceInfo = { execTime: 1, powerUsage: 1 };
  return {
    relaxedFloat32toFloat16PerformanceScalar: info("float"),
    relaxedFloat32toFloat16PerformanceTensor: info("float"),
    operandPerformance: Object.values(OperandType)
      .filter((type) => type !== OperandType.SUBGRAPH)
      .sort((a, b) => a - b)
      .map((type) => ({ type, info: info(floats.includes(type) ? "float" : "quantised") })),
    ifPerformance: reference,
    whilePerformance: reference,
  };
}
