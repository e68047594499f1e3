/** Conversions between the canonical shape and each version of AIDL. */
import { readModel, readRequest } from "./read.ts";
import { conversionsToAidl } from "./write.ts";

export type { AidlConversions } from "./write.ts";

export const convertToAidl1 = /* @__PURE__ */ conversionsToAidl("aidl1");
export const convertToAidl2 = /* @__PURE__ */ conversionsToAidl("aidl2");
export const convertToAidl3 = /* @__PURE__ */ conversionsToAidl("aidl3");
export const convertToAidl4 = /* @__PURE__ */ conversionsToAidl("aidl4");

/**
 * Conversions from any version of AIDL. Nothing is lost; a value without a canonical form, such as one with a negative index, is a
 * RangeError.
 */
export const convertFromAidl = { model: readModel, request: readRequest };
