/**
 * How fast the modes are beside the reference, which has 1 in everything: the numbers that apps/cli/bench/capabilities.ts gives on a
 * two-core x86 machine.
 */
import type { RelativeTimes } from "@nnhal/backend";
import type { Machine, ModeName } from "./machine/machine.ts";

/** A driver that computes with the processor, by what adapters are called. */
const software = /llvmpipe|lavapipe|swiftshader|software/i;

/**
 * There was no graphics card to be measured: for WebGPU one is taken to be no slower than WebAssembly; OpenGL, where a card is not told
 * from a driver that computes with the processor, has the times of the latter.
 */
const measured = {
  webasm: { float: 0.9, quantised: 0.9 },
  cpu: { float: 0.93, quantised: 1 },
  webgpu: { float: 1.8, quantised: 2.1 },
  headlessgl: { float: 3.6, quantised: 3 },
} as const satisfies Readonly<Record<ModeName, RelativeTimes>>;

/** The times on a machine. */
export function timesOn({ mode, adapter = "" }: Pick<Machine, "mode" | "adapter">): RelativeTimes {
  return measured[mode === "webgpu" && !software.test(adapter) ? "webasm" : mode];
}
