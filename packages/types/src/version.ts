/**
 * HAL versions. Every row of every table in this package carries `since`, the first HAL version that knows it.
 */

/** The four versions of the NN HAL, oldest first. */
export const halVersions = ["1.0", "1.1", "1.2", "1.3"] as const;

/** A version of the NN HAL. Versions compare as strings: `"1.1" < "1.2"`. */
export type HalVersion = (typeof halVersions)[number];
