/**
 * @nnhal/driver-core/device: a HAL device over a backend.
 */
export type { CachingOptions } from "../cache/caching.ts";
export { nextTurn } from "../schedule/breather.ts";
export { type IdleWatch, type IdleWatchOptions, watchIdle } from "../schedule/idle.ts";
export { systemTimer, type Timer } from "../schedule/timer.ts";
export type { ClientDevice } from "./client-device.ts";
export { type DeviceLimits, type DeviceOptions, type OpenedDevice, openDevice } from "./device.ts";
export { steadyClock } from "./steady-clock.ts";
