/**
 * Which operations of a model some devices support (NNAPI: ANeuralNetworksModel_getSupportedOperationsForDevices).
 */
import { ErrorStatus, type Model } from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import type { GuardedDevice } from "./guard/device.ts";
import { deviceForm } from "./plan/device-form.ts";
import { observeDevice } from "./plan/observe.ts";

/**
 * For each operation of the main subgraph, whether one of the devices supports it. A device that fails to answer supports none,
 * and is named in the log.
 */
export async function findSupported(model: Model, devices: readonly GuardedDevice[], log: Logger): Promise<boolean[]> {
  const count = model.main.operations.length;
  const asked = deviceForm(model);
  const answers = await Promise.all(
    devices.map(async (device) => {
      const { status, supported } = await observeDevice(device, log).getSupportedOperations(asked);
      return status === ErrorStatus.NONE ? supported : [];
    }),
  );
  return Array.from({ length: count }, (_, index) => answers.some((supported) => supported[index] === true));
}
