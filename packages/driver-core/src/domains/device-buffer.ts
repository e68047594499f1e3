/**
 * A buffer of a device: what it is for, what it holds, and whether it holds anything (HAL 1.3 IDevice.allocate).
 */
import { byteSize, combineDimensions, specifiedByteSize } from "@nnhal/operations";
import { type OperandTypeName, operandTypes } from "@nnhal/types";
import type { BufferOperand, PreparedModelRecord } from "@nnhal/validation";
import type { BufferStorage } from "./storage.ts";

/** The inputs and outputs of one prepared model that a buffer may be. */
export interface BufferUses {
  readonly inputs: ReadonlySet<number>;
  readonly outputs: ReadonlySet<number>;
}

/** A buffer of a device. */
export interface DeviceBuffer {
  readonly type: OperandTypeName;
  readonly operand: BufferOperand;
  /** By the driver's record of the prepared model. */
  readonly roles: ReadonlyMap<PreparedModelRecord, BufferUses>;
  readonly storage: BufferStorage;
  /** The shape of the value, as far as it is known. Fully known where there is a value. */
  dimensions: readonly number[];
  /** Whether it has a value. */
  initialised: boolean;
  /** Whether its client has let go of it. */
  isClosed: boolean;
  /** How many executions were answered while the engine still used its place: until they have ended, its value is not certain. */
  lateRuns: number;
}

/** Why a buffer with `lateRuns` cannot be used. */
export const usedByLateRun = "the engine has not ended an execution on the buffer that was given up on";

/** The buffer has a value of this shape from now on. */
export function initialise(buffer: DeviceBuffer, dimensions: readonly number[]): void {
  buffer.dimensions = dimensions;
  buffer.initialised = true;
}

/** The buffer has no value any more; its shape is known as far as it was at first. */
export function reset(buffer: DeviceBuffer): void {
  buffer.dimensions = buffer.operand.dimensions;
  buffer.initialised = false;
}

/** Bytes of a value of a type; undefined if the shape is not fully known. `isValue`: an extent of 0 is not unknown, but 0. */
export function sizeOf(type: OperandTypeName, dimensions: readonly number[], isValue = false): number | undefined {
  return isValue ? byteSize(operandTypes[type], dimensions) : specifiedByteSize(operandTypes[type], dimensions);
}

/** Bytes of the buffer's value; undefined where it has none and its shape is not known. */
export function valueSize({ type, dimensions, initialised }: DeviceBuffer): number | undefined {
  return sizeOf(type, dimensions, initialised);
}

/**
 * What is wrong with `dimensions` as the shape of a new value (rules of IBuffer.copyFrom); undefined where they are
 * right. None at all: the buffer's own.
 */
export function dimensionsProblem({ type, operand }: DeviceBuffer, dimensions: readonly number[]): string | undefined {
  const known = operand.dimensions;
  if (operandTypes[type].kind !== "tensor") {
    return dimensions.length === 0 ? undefined : `a ${type} is given dimensions [${dimensions}] where none are allowed`;
  }
  if (dimensions.length === 0) {
    if (sizeOf(type, known) !== undefined) return undefined;
    return `no dimensions are given where the buffer, with [${known}], does not know all of them`;
  }
  if (dimensions.includes(0)) return `the dimensions [${dimensions}] have an extent of 0, which is unknown`;
  if (combineDimensions(known, dimensions) !== undefined) return undefined;
  return `the dimensions [${dimensions}] contradict the buffer's [${known}]`;
}
