/**
 * Launches of preparations by the methods of each HAL version, on the faces of a device that a test chooses.
 */

import { fakeDevice } from "@nnhal/test-kit/fake-device";
import {
  type Device,
  type ErrorStatus,
  ExecutionPreference,
  type Model,
  type Outcome,
  type PrepareResult,
  Priority,
  type V1_0,
  type V1_3,
} from "@nnhal/types";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_1 } from "./convert/v1-1.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";
import { asV1_0, asV1_1, asV1_2, asV1_3 } from "./index.ts";

const { LOW_POWER } = ExecutionPreference;

export const none = { kind: "none" } as const;
export const token = new Uint8Array(32);

/** A launch of a preparation by each method, and the callback method that belongs to it. */
export const launches = {
  prepareModel: {
    notify: "notify",
    launch: (device: Device, of: Model, callback: V1_3.IPreparedModelCallback | null, options = {}): V1_0.Outcome =>
      asV1_0(device, options).prepareModel(convertToV1_0.model(of).value, callback),
  },
  prepareModel_1_1: {
    notify: "notify",
    launch: (device: Device, of: Model, callback: V1_3.IPreparedModelCallback | null, options = {}): V1_0.Outcome =>
      asV1_1(device, options).prepareModel_1_1(convertToV1_1.model(of).value, LOW_POWER, callback),
  },
  prepareModel_1_2: {
    notify: "notify_1_2",
    launch: (device: Device, of: Model, callback: V1_3.IPreparedModelCallback | null, options = {}): V1_0.Outcome =>
      asV1_2(device, options).prepareModel_1_2(convertToV1_2.model(of).value, LOW_POWER, [], [], token, callback),
  },
  prepareModel_1_3: {
    notify: "notify_1_3",
    launch: (device: Device, of: Model, callback: V1_3.IPreparedModelCallback | null, options = {}): Outcome =>
      asV1_3(device, options).prepareModel_1_3(of, LOW_POWER, Priority.HIGH, none, [], [], token, callback),
  },
} as const;

/** A device whose preparation ends as the test says. */
export function makePreparing(result: () => Promise<PrepareResult>): Device {
  return { ...fakeDevice(), prepareModel: result };
}

export function makeFailing(status: ErrorStatus): Device {
  return makePreparing(async () => ({ status, message: "why", preparedModel: null }));
}
