/**
 * @nnhal/driver-core/versions: devices and drivers of every HAL version, each in the form that another version asks for.
 */
export type { AnswerOptions, LogSink } from "../guard/wait.ts";
export { asV1_0, asV1_1, asV1_2, asV1_3 } from "./device-face.ts";
export type { FaceOptions } from "./face-context.ts";
export type { LiftOptions } from "./lift-context.ts";
export { liftDevice } from "./lift-device.ts";
export type { AnyIDevice } from "./old-driver.ts";
