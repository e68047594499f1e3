/**
 * The speed of the engine relative to the reference, whose figures are all 1, as apps/cli/bench/capabilities.ts measured it on a
 * two-core x86 machine. That machine had no energy counters: `powerUsage` is derived from the time.
 */
import type { RelativeTimes } from "@nnhal/backend";

export const times: RelativeTimes = { float: 0.04, quantised: 0.04 };
