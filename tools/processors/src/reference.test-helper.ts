/** The reference device, or one that refuses operations. */
import { type OperationView, partialBackend } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import type { Device } from "@nnhal/types";

/** `whyNot`: the reason against an operation; undefined if it is supported. Default: all are. */
export async function openedReference(
  whyNot: (view: OperationView) => string | undefined = () => undefined,
): Promise<Device> {
  const device = await openDevice({ backend: partialBackend(referenceBackend, { whyNot }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
