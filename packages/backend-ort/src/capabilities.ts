/**
 * The speed of the engine relative to the reference, whose figures are all 1, as apps/cli/bench/capabilities.ts measured it on a
 * two-core x86 machine. That machine had no energy counters: `powerUsage` is derived from the time.
 */
import type { RelativeTimes } from "@nnhal/backend";
import type { Forms } from "./forms.ts";

const signedTimes: RelativeTimes = { float: 0.04, quantised: 0.04 };

/**
 * Convolutions with unsigned weights take 1.2 (MobileNet v1) to 2.3 times (v2) as long as those with signed ones on that machine, as
 * bench/network.ts measures it: a float network is then the faster one.
 */
const unsignedTimes: RelativeTimes = { ...signedTimes, quantised: 0.07 };

/** The times with some forms. */
export function timesWith({ products }: Forms): RelativeTimes {
  return products("convolution") === "u8s8" ? signedTimes : unsignedTimes;
}
