/**
 * The speed of the engines relative to the reference, whose figures are all 1, as apps/cli/bench/capabilities.ts measured it on a
 * two-core x86 machine. That machine had no energy counters: `powerUsage` is derived from the time. An entry with measured energy has the
 * field `energy`.
 */
import type { RelativeTimes } from "@nnhal/backend";
import type { EngineName } from "./engine.ts";

/** The native library of tfjs-node was not measured; it is assumed to be no slower than WebAssembly. */
export const timesOf: Readonly<Record<EngineName, RelativeTimes>> = {
  node: { float: 0.12, quantised: 0.15 },
  wasm: { float: 0.12, quantised: 0.15 },
  cpu: { float: 2.7, quantised: 4 },
};
