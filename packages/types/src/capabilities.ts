/**
 * Speed and power of a device, and the extensions that it supports (HAL 1.3 Capabilities, 1.2 Extension).
 */

/** Cost of an execution relative to the CPU's; lower is better, > 0 (HAL PerformanceInfo). */
export interface PerformanceInfo {
  /** Execution time, CPU = 1. */
  readonly execTime: number;
  /** Energy, CPU = 1. */
  readonly powerUsage: number;
}

/** Performance of operations whose first operand is of one type (HAL 1.2 Capabilities.OperandPerformance). */
export interface OperandPerformance {
  /** A code of `OperandType`; never SUBGRAPH. */
  readonly type: number;
  readonly info: PerformanceInfo;
}

/** Performance of a device (HAL 1.3 Capabilities). */
export interface Capabilities {
  readonly relaxedFloat32toFloat16PerformanceScalar: PerformanceInfo;
  readonly relaxedFloat32toFloat16PerformanceTensor: PerformanceInfo;
  /** Sorted by type, each at most once. The device does not accelerate a type that is missing. */
  readonly operandPerformance: readonly OperandPerformance[];
  /** Cost of an IF beside its branches. */
  readonly ifPerformance: PerformanceInfo;
  /** Cost of a WHILE beside its condition and body. */
  readonly whilePerformance: PerformanceInfo;
}

/** An operand type of an extension (HAL 1.2 Extension.OperandTypeInformation). */
export interface ExtensionOperandTypeInformation {
  /** The lower 16 bits of the type's code. */
  readonly type: number;
  readonly isTensor: boolean;
  /** Size in bytes of a scalar, or of one element of a tensor. */
  readonly byteSize: number;
}

/** A vendor extension that a device supports (HAL 1.2 Extension). */
export interface Extension {
  /** Reverse domain name: lower case letters, digits, underscores and at least one dot. */
  readonly name: string;
  readonly operandTypes: readonly ExtensionOperandTypeInformation[];
}
