/**
 * How fast the modes are beside the reference, which has 1 in everything: the numbers that apps/cli/bench/capabilities.ts gives on a
 * two-core x86 machine. That machine had no energy counters: `powerUsage` is derived from the time. An entry with measured energy has the
 * field `energy`.
 */
import type { RelativeTimes } from "@nnhal/backend";
import type { Machine, ModeName } from "./machine/machine.ts";
import { isSoftware } from "./machine/webgpu.ts";

/**
 * There was no graphics card to be measured: for WebGPU one is taken to be no slower than WebAssembly; OpenGL, where a card is not told
 * from a driver that computes with the processor, has the times of the latter.
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
