/** A model that adds two numbers, prepared on the reference backend. */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { addModel } from "@nnhal/test-kit/models";
import type { PreparedModel } from "@nnhal/types";

export async function prepareAdd(): Promise<PreparedModel> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const { preparedModel, message } = await device.prepareModel(addModel([1]));
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}
