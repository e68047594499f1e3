/**
 * @nnhal/types/aidl: the NN HAL as AIDL writes it, versions 1 to 4: what Android 12 to 14 have. `AIDL1` has all structs; each further
 * version begins with all of the version before it.
 */
export * as AIDL1 from "./aidl-1.ts";
export * as AIDL2 from "./aidl-2.ts";
export * as AIDL3 from "./aidl-3.ts";
export * as AIDL4 from "./aidl-4.ts";
export { DeadObjectException, ServiceSpecificException } from "./aidl-exceptions.ts";
