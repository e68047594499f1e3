/**
 * Which operations of a model some devices take (NNAPI: ANeuralNetworksModel_getSupportedOperationsForDevices).
 */
import { withoutTrailingDefaults } from "@nnhal/driver-core/partition";
import { type Device, ErrorStatus, type Model } from "@nnhal/types";

/**
 * For each operation of the main subgraph whether one of the devices takes it. A device that answers with an error, or not
 * for every operation, takes none.
 */
export function supportedByAny(model: Model, devices: readonly Device[]): boolean[] {
  const count = model.main.operations.length;
  const answers = devices.map((device) => {
    const { status, supported } = device.getSupportedOperations(withoutTrailingDefaults(model));
    return status === ErrorStatus.NONE && supported.length === count ? supported : [];
  });
  return Array.from({ length: count }, (_, index) => answers.some((supported) => supported[index] === true));
}
