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

/** By operand its roles; null where the runtime itself reads or writes the value, as well or instead. */
export type Uses = ReadonlyMap<number, readonly DeviceRole[] | null>;

/** The only device of some roles; undefined where there are none, or several, or the runtime is among the users. */
export function onlyDevice(roles: readonly DeviceRole[] | null | undefined): GuardedDevice | undefined {
  const device = roles?.[0]?.device;
  return device !== undefined && roles?.every((role) => role.device === device) ? device : undefined;
}
