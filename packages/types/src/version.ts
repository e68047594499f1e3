/**
 * HAL versions. Every row of every table in this package carries `since`, the first HAL version that knows it.
 */

/** The four versions of the NN HAL, oldest first. */
export const halVersions = ["1.0", "1.1", "1.2", "1.3"] as const;

/** A version of the NN HAL. Versions compare as strings: `"1.1" < "1.2"`. */
export type HalVersion = (typeof halVersions)[number];

/** The version whose structures are the canonical ones. */
export const newestHalVersion: "1.3" = "1.3";

/** The NNAPI feature level of a device of each version: the API level of the Android release that it came with. */
export const featureLevels: Readonly<Record<HalVersion, number>> = { "1.0": 27, "1.1": 28, "1.2": 29, "1.3": 30 };
