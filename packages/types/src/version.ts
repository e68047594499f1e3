/**
 * HAL versions. Every row of every table in this package carries `since`, the first HAL version that knows it.
 */

/** The versions of the NN HAL that HIDL describes, oldest first. */
export const hidlVersions = ["1.0", "1.1", "1.2", "1.3"] as const;

/** The versions of the NN HAL that AIDL describes, oldest first. */
export const aidlVersions = ["aidl1", "aidl2", "aidl3", "aidl4"] as const;

/** The versions of the NN HAL, oldest first. */
export const halVersions = [...hidlVersions, ...aidlVersions] as const;

/** A version of the NN HAL. Versions compare as strings: `"1.1" < "1.2"`, `"1.3" < "aidl1"`. */
export type HalVersion = (typeof halVersions)[number];

/** A version of HIDL. */
export type HidlVersion = (typeof hidlVersions)[number];

/** A version of AIDL. */
export type AidlVersion = (typeof aidlVersions)[number];

/** The version whose structures are the canonical ones, and the default where no version is given. */
export const canonicalHalVersion: "1.3" = "1.3";

/** The newest version. */
export const newestHalVersion: "aidl4" = "aidl4";

/**
 * The NNAPI feature level of a device of each version. Up to HAL 1.3 and AIDL 1 it is the API level of the Android release that it came
 * with, from then on a number of its own (NNAPI FeatureLevelCode).
 */
export const featureLevels: Readonly<Record<HalVersion, number>> = {
  ...{ "1.0": 27, "1.1": 28, "1.2": 29, "1.3": 30 },
  ...{ aidl1: 31, aidl2: 1_000_006, aidl3: 1_000_007, aidl4: 1_000_008 },
};

/** Returns true for a version of AIDL. */
export function isAidl(version: HalVersion): version is AidlVersion {
  return version >= "aidl1";
}
