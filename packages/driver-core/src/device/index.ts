/**
 * @nnhal/driver-core/device: a HAL device over a backend.
 */
export type { CachingOptions } from "../cache/caching.ts";
export type { ClientDevice } from "./client-device.ts";
export { type DeviceLimits, type DeviceOptions, type OpenedDevice, openDevice } from "./device.ts";
