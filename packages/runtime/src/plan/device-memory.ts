/**
 * Device buffers for values that only one device uses (HAL 1.3 IDevice.allocate): allocated for roles, and found again by
 * token, so that the runtime can copy the values.
 */
import { failedAllocation, failure } from "@nnhal/driver-core/guard";
import {
  type AllocateResult,
  type BufferDesc,
  type BufferRole,
  errorStatusNames,
  type IBuffer,
  type PreparedModel,
} from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import type { GuardedDevice } from "../guard/device.ts";
import type { DeviceRole } from "./device-role.ts";
import { onlyDevice } from "./device-role.ts";

/** A role, and how likely an execution uses the buffer so: within (0, 1]. */
export interface WeightedRole {
  readonly role: DeviceRole;
  readonly frequency: number;
}

/** By device, by token. The buffers belong to the callers of `allocateFor`. */
const allocated = new WeakMap<GuardedDevice, Map<number, WeakRef<IBuffer>>>();

/** Allocates a buffer for some roles. GENERAL_FAILURE if they belong to several devices, or the device has no private memory. */
export async function allocateFor(
  desc: BufferDesc,
  roles: readonly WeightedRole[],
  log: Logger,
): Promise<AllocateResult> {
  const device = onlyDevice(roles.map(({ role }) => role));
  if (device?.allocate === undefined) {
    const why = device === undefined ? "no device alone uses it" : `${device.name} has no memory for it`;
    return failedAllocation(failure(`allocating a buffer: ${why}`));
  }
  const models: PreparedModel[] = [];
  const sides: Record<DeviceRole["side"], BufferRole[]> = { input: [], output: [] };
  for (const { role, frequency } of roles) {
    const { preparedModel, side, index: ioIndex } = role;
    const known = models.indexOf(preparedModel);
    const modelIndex = known >= 0 ? known : models.push(preparedModel) - 1;
    sides[side].push({ modelIndex, ioIndex, frequency });
  }
  const result = await device.allocate(desc, models, sides.input, sides.output);
  const { buffer, token, status } = result;
  log.VLOG("MEMORY", () => {
    const outcome = buffer === null ? `fails with ${errorStatusNames.get(status)}` : `has token ${token}`;
    return `${device.name}: a buffer of dimensions [${desc.dimensions}] for ${roles.length} roles ${outcome}`;
  });
  if (buffer !== null) remember(device, token, buffer);
  return result;
}

function remember(device: GuardedDevice, token: number, buffer: IBuffer): void {
  let ofDevice = allocated.get(device);
  if (ofDevice === undefined) {
    ofDevice = new Map();
    allocated.set(device, ofDevice);
  }
  ofDevice.set(token, new WeakRef(buffer));
}

/** The buffer with a token that `allocateFor` returned for a device; undefined if there is none, or it was collected. */
export function bufferWith(device: GuardedDevice, token: number): IBuffer | undefined {
  return allocated.get(device)?.get(token)?.deref();
}
