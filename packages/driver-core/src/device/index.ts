/**
 * @nnhal/driver-core/device: a HAL device over a backend.
 */
export { type DeviceOptions, openDevice } from "./device.ts";
export { steadyClock } from "./steady-clock.ts";
