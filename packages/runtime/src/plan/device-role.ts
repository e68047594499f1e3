/**
 * The inputs and outputs of devices' prepared models that a value of a plan becomes (HAL 1.3 BufferRole).
 */
import type { PreparedModel } from "@nnhal/types";
import type { GuardedDevice } from "../guard/device.ts";

/** An input or output of a device's prepared model. */
export interface DeviceRole {
  readonly device: GuardedDevice;
  readonly preparedModel: PreparedModel;
  readonly side: "input" | "output";
  /** Among the prepared model's inputs or outputs. */
  readonly index: number;
}

/** Roles by operand; null if the runtime itself reads or writes the value. */
export type Uses = ReadonlyMap<number, readonly DeviceRole[] | null>;

/** The only device of some roles; undefined if there is no device, several devices, or the runtime uses the value. */
export function onlyDevice(roles: readonly DeviceRole[] | null | undefined): GuardedDevice | undefined {
  const device = roles?.[0]?.device;
  return device !== undefined && roles?.every((role) => role.device === device) ? device : undefined;
}
