/** Capabilities out of a few figures, for backends whose speed differs by kind of element only. */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";

/** Time that operations take beside the reference backend, which has 1; types that are no floats go with the quantised ones. */
export interface RelativeTimes {
  readonly float: number;
  readonly quantised: number;
}

const floats: readonly number[] = [
  OperandType.FLOAT32,
  OperandType.FLOAT16,
  OperandType.TENSOR_FLOAT32,
  OperandType.TENSOR_FLOAT16,
];

/** Capabilities for every operand type, the power used taken to be in proportion. IF and WHILE themselves are as in the reference. */
export function capabilitiesOf({ float, quantised }: RelativeTimes): Capabilities {
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
