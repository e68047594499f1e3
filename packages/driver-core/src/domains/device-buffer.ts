/** A buffer of a device: its roles, its storage, and whether it has a value (HAL 1.3 IDevice.allocate). */
import type { AnyOperandType } from "@nnhal/operations";
import type { BufferOperand, PreparedModelRecord } from "@nnhal/validation";
import type { BufferStorage } from "./storage.ts";

/** The inputs and outputs of one prepared model that a buffer can be used for. */
export interface BufferUses {
  readonly inputs: ReadonlySet<number>;
  readonly outputs: ReadonlySet<number>;
}

/** A buffer of a device. */
export interface DeviceBuffer {
  readonly type: AnyOperandType;
  readonly operand: BufferOperand;
  /** By the driver's record of the prepared model. */
  readonly roles: ReadonlyMap<PreparedModelRecord, BufferUses>;
  readonly storage: BufferStorage;
  /** The shape of the value, as far as it is known. Fully known if there is a value. */
  dimensions: readonly number[];
  /** True if it has a value. */
  initialised: boolean;
  /** True if its client has closed it. */
  isClosed: boolean;
  /**
   * The number of executions that were answered while the engine still used its place: until they end, its value is not
   * certain.
   */
  lateRuns: number;
}

/** Why a buffer with `lateRuns` cannot be used. */
export const usedByLateRun = "the engine has not ended an execution on the buffer that was given up on";

/** Marks the buffer as initialised with a value of this shape. */
export function initialise(buffer: DeviceBuffer, dimensions: readonly number[]): void {
  buffer.dimensions = dimensions;
  buffer.initialised = true;
}

/** Marks the buffer as uninitialised; its shape is that of its description again. */
export function reset(buffer: DeviceBuffer): void {
  buffer.dimensions = buffer.operand.dimensions;
  buffer.initialised = false;
}
