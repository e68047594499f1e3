/**
 * The gpu.js backend: a table of kernels over a mode of gpu.js. Values are float32, in the memory of the mode.
 */

import {
  type Backend,
  capabilitiesOf,
  type KernelEngine,
  type KernelTable,
  kernelBackend,
  type OpenOptions,
  powerBasisOf,
  type Unavailable,
} from "@nnhal/backend";
import {
  currentProcessor,
  type Processor,
  type ProofOptions,
  proveEngine,
  type TableEngine,
} from "@nnhal/backend/proof";
import { createData, elementCount, expectKnownOptions, type TensorData, type TensorInfo } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { ifPermitted } from "@nnhal/utils";
import { timesOn } from "./capabilities.ts";
import { kernels } from "./kernels/index.ts";
import { type Machine, type ModeName, modeNames, type Value } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";
import { chooseThreads } from "./threads.ts";

/** Options of `gpujsBackend`. */
export interface GpujsBackendOptions {
  /** The only mode to use. Default: the environment variable NNHAL_GPUJS_MODE, else the first that works. */
  readonly mode?: ModeName | undefined;
}

/** Creates a gpu.js backend. Whether its device is a GPU or the CPU is known once it is open. */
export function gpujsBackend(options: GpujsBackendOptions = {}): Backend {
  expectKnownOptions("gpujsBackend", options, { mode: true });
  const { mode } = options;
  return kernelBackend({ name: "gpujs", deviceType: DeviceType.CPU, open: (opening) => openEngine(mode, opening) });
}

/** The gpu.js backend in the best mode that works. */
export const backend: Backend = gpujsBackend();

async function openEngine(
  option: ModeName | undefined,
  options: OpenOptions = {},
): Promise<KernelEngine<Value> | Unavailable> {
  const wanted = option ?? (ifPermitted(() => process.env.NNHAL_GPUJS_MODE) || undefined);
  if (wanted !== undefined && !isModeName(wanted)) {
    return {
      unavailable: `there is no mode "${wanted}" of gpu.js`,
      remedy: `set NNHAL_GPUJS_MODE to one of ${modeNames.join(", ")}`,
    };
  }
  const opened = await openMachine(wanted);
  if ("unavailable" in opened) return opened;
  const { machine, missing } = opened;
  return proven(machine, missing, { ...options, processor: processorOf(machine) });
}

/** The engine on a machine after its self-check. */
export async function proven(
  machine: Machine,
  missing: readonly Unavailable[],
  options: ProofOptions,
): Promise<KernelEngine<Value>> {
  const { engine, choice } = await chooseThreads(machine, (each) => engineOn(each, missing), options);
  return proveEngine(engine, { ...options, choices: [choice] });
}

/** The processor that a machine computes on. Drivers of graphics adapters do not tell their versions, so nothing is kept about them. */
export function processorOf({ mode, adapter }: Pick<Machine, "mode" | "adapter">): Processor {
  if (mode === "webasm" || mode === "cpu") return currentProcessor();
  return { name: adapter === undefined ? "of OpenGL" : `of the graphics adapter ${adapter}` };
}

function isModeName(name: string): name is ModeName {
  return modeNames.some((known) => known === name);
}

/** An engine for kernels over a machine. */
export function engineOn(machine: Machine, missing: readonly Unavailable[] = []): TableEngine<Value> {
  const { mode, adapter } = machine;
  // Each kernel keeps the name of its operation; the compiler cannot infer this from the entries.
  const table = Object.fromEntries(
    Object.entries(kernels).map(([name, kernel]) => [name, kernel?.on(machine)]),
  ) as KernelTable<Value>;
  return {
    version: `nnhal-gpujs-1 ${mode}${adapter === undefined ? "" : ` (${adapter})`} gpu.js 2.24.1`,
    capabilities: capabilitiesOf(timesOn(machine)),
    powerBasis: powerBasisOf(timesOn(machine)),
    deviceType: mode === "webgpu" || mode === "headlessgl" ? DeviceType.GPU : DeviceType.CPU,
    missing,
    kernels: table,
    upload: (_, data) => machine.place(data),
    download(value, info) {
      const elements = value.read();
      return elements instanceof Promise
        ? elements.then((all) => toTypedArray(all, info))
        : toTypedArray(elements, info);
    },
    release: (value) => value.release(),
    close: () => machine.close(),
  };
}

/** Elements in the typed array of a type. */
function toTypedArray(elements: Float32Array, { type, dimensions }: TensorInfo): TensorData {
  const data = createData(type, elementCount(dimensions));
  if (data instanceof Float32Array) return elements;
  // The greatest float32 of a TENSOR_INT32 is one more than its greatest element.
  if (data instanceof Int32Array)
    for (let at = 0; at < data.length; at++) data[at] = Math.min(elements[at], 0x7fffffff);
  else data.set(elements);
  return data;
}
