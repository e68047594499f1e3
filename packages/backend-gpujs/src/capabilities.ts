/**
 * The speed of the modes relative to the reference, whose figures are all 1, as apps/cli/bench/capabilities.ts measured it on a
 * two-core x86 machine. That machine had no energy counters: `powerUsage` is derived from the time. An entry with measured energy has the
 * field `energy`.
 */
import type { RelativeTimes } from "@nnhal/backend";
import type { Machine, ModeName } from "./machine/machine.ts";
import { isSoftware } from "./machine/webgpu.ts";

/**
 * No graphics card was measured. With WebGPU, a card is assumed to be no slower than WebAssembly. With OpenGL, a card cannot be
 * distinguished from a driver that computes on the processor, so the times are those of such a driver.
 */
const measured = {
  webasm: { float: 0.32, quantised: 0.35 },
  cpu: { float: 1, quantised: 1.15 },
  webgpu: { float: 0.85, quantised: 0.77 },
  headlessgl: { float: 0.54, quantised: 0.61 },
} as const satisfies Readonly<Record<ModeName, RelativeTimes>>;

/** The times on a machine. */
export function timesOn({ mode, adapter = "" }: Pick<Machine, "mode" | "adapter">): RelativeTimes {
  return measured[mode === "webgpu" && !isSoftware(adapter) ? "webasm" : mode];
}
