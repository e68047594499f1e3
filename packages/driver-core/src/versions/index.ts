/**
 * @nnhal/driver-core/versions: all that knows how HAL versions differ. Devices and drivers of every version, each in the form that another
 * version asks for; which version a value fits, conversions between versions, and slices of models for older drivers.
 */
export type { AnswerOptions, LogSink } from "../guard/wait.ts";
export {
  type AidlConversions,
  convertFromAidl,
  convertToAidl1,
  convertToAidl2,
  convertToAidl3,
  convertToAidl4,
} from "./aidl/convert.ts";
export {
  type AidlFaceOptions,
  asAidl1,
  asAidl2,
  asAidl3,
  asAidl4,
} from "./aidl/device-face.ts";
export type { BootClockOptions } from "./aidl/time.ts";

export { describeNeed, type Need, noncompliantOperations } from "./compliance/needs.ts";
export {
  type Compliance,
  complianceWith,
  compliantWithAidl1,
  compliantWithAidl2,
  compliantWithAidl3,
  compliantWithAidl4,
  compliantWithV1_0,
  compliantWithV1_1,
  compliantWithV1_2,
  compliantWithV1_3,
} from "./compliant-with.ts";
export type { AnyCapabilities, AnyModel, AnyOperand, AnyRequest } from "./convert/any.ts";
export type { Conversion, Loss, WarningSink } from "./convert/conversion.ts";
export { convertToV1_0 } from "./convert/v1-0.ts";
export { convertToV1_1 } from "./convert/v1-1.ts";
export { convertToV1_2 } from "./convert/v1-2.ts";
export { convertToV1_3 } from "./convert/v1-3.ts";
export { asV1_0, asV1_1, asV1_2, asV1_3 } from "./device-face.ts";
export { asVersion, type Drivers, driversIn } from "./drivers.ts";
export type { FaceOptions } from "./face-context.ts";
export type { LiftOptions } from "./lift-context.ts";
export { liftDevice } from "./lift-device.ts";
export type { AnyIDevice } from "./old-driver.ts";
export { type ModelSlice, sliceModel, type Unsliceable } from "./slice.ts";
