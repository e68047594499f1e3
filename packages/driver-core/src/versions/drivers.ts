/** Drivers by version: a device as a driver of each, and the versions that a driver has. */
import type { HalVersion, V1_0, V1_1, V1_2, V1_3 } from "@nnhal/types";
import { asAidl1, asAidl2, asAidl3, asAidl4 } from "./aidl/device-face.ts";
import { asV1_0, asV1_1, asV1_2, asV1_3 } from "./device-face.ts";
import type { AnyIDevice } from "./old-driver.ts";

/** A device as a driver of each HAL version. */
export const asVersion = {
  ...{ "1.0": asV1_0, "1.1": asV1_1, "1.2": asV1_2, "1.3": asV1_3 },
  ...{ aidl1: asAidl1, aidl2: asAidl2, aidl3: asAidl3, aidl4: asAidl4 },
} as const satisfies Readonly<Record<HalVersion, unknown>>;

/** A driver as one of each version that it has. */
export interface Drivers {
  readonly "1.0"?: V1_0.IDevice;
  readonly "1.1"?: V1_1.IDevice;
  readonly "1.2"?: V1_2.IDevice;
  readonly "1.3"?: V1_3.IDevice;
}

/** The versions of a driver: those whose methods it has. */
export function driversIn(driver: AnyIDevice): Drivers {
  return {
    "1.0": driver,
    ...("prepareModel_1_1" in driver && { "1.1": driver }),
    ...("prepareModel_1_2" in driver && { "1.2": driver }),
    ...("prepareModel_1_3" in driver && { "1.3": driver }),
  };
}
