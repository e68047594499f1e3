/** Finds a mode of gpu.js that works. Each is tested with a small kernel, because an installed package may still not run. */
import type { Unavailable } from "@nnhal/backend";
import { browserHasGpu, isBrowser } from "./browser.ts";
import { tryOut } from "./create.ts";
import { type GpuJs, loadGpuJs, Unusable } from "./gpujs.ts";
import { openHeadlessGl } from "./headlessgl.ts";
import { openHost } from "./host.ts";
import { type Machine, type ModeName, modeNames } from "./machine.ts";
import { openWebGpu } from "./webgpu.ts";

/** A machine that works, and the reasons why better modes do not. */
export interface OpenMachine {
  readonly machine: Machine;
  readonly missing: readonly Unavailable[];
}

/** Remedies for modes that do not work. */
const remedies: Readonly<Record<ModeName, string>> = {
  webgpu: "npm install webgpu",
  headlessgl: "npm install gl",
  webasm: "use a Node.js that has WebAssembly",
  cpu: "npm install gpu.js",
};

/**
 * Opens the wanted mode, or the first that works. WebGPU on the processor is only opened if it is wanted: it compiles for seconds, and
 * Dawn prints on the standard error as soon as it looks for an adapter. `hasGpu`: whether there may be another adapter.
 */
export async function openMachine(
  wanted?: ModeName,
  hasGpu: () => Promise<boolean> = isBrowser ? browserHasGpu : findsGpu,
): Promise<OpenMachine | Unavailable> {
  let gpujs: GpuJs;
  try {
    gpujs = await loadGpuJs();
  } catch (error) {
    return { unavailable: `gpu.js does not load: ${whyNot(error)}`, remedy: "npm install gpu.js" };
  }
  const missing: Unavailable[] = [];
  for (const mode of wanted === undefined ? modeNames : [wanted]) {
    try {
      if (mode === "webgpu" && wanted === undefined && !(await hasGpu())) throw new Unusable("there is no GPU", noGpu);
      return { machine: await open(gpujs, mode), missing };
    } catch (error) {
      missing.push({
        unavailable: `mode ${mode} does not work: ${whyNot(error)}`,
        remedy: error instanceof Unusable ? error.remedy : remedies[mode],
      });
    }
  }
  const problems = missing.map(({ unavailable }) => unavailable).join("; ");
  return { unavailable: `gpu.js does not run here. ${problems}`, remedy: remedies[wanted ?? "webgpu"] };
}

const noGpu = "a GPU with its driver; NNHAL_GPUJS_MODE=webgpu also uses a driver that computes with the processor";

/** Returns whether this machine may have a GPU. Linux shows each as a device; elsewhere only the driver knows. */
export async function findsGpu(platform = process.platform, folder = "/dev"): Promise<boolean> {
  if (platform !== "linux") return true;
  const { readdir } = await import("node:fs/promises");
  const devices = await readdir(folder).catch(() => []);
  return devices.some((name) => /^(dri|dxg|nvidia\d+|nvidiactl|mali\d+|kgsl-3d\d+)$/.test(name));
}

async function open(gpujs: GpuJs, mode: ModeName): Promise<Machine> {
  const machine = await create(gpujs, mode);
  try {
    await tryOut(machine);
    return machine;
  } catch (error) {
    machine.close();
    throw error;
  }
}

function create(gpujs: GpuJs, mode: ModeName): Machine | Promise<Machine> {
  switch (mode) {
    case "webgpu":
      return openWebGpu(gpujs);
    case "headlessgl":
      return openHeadlessGl(gpujs);
    default:
      return openHost(gpujs, mode);
  }
}

/** The first line of an error's message. Only packages that a mode needs besides gpu.js can be missing. */
function whyNot(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return "the package is not installed";
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split("\n")[0];
}
