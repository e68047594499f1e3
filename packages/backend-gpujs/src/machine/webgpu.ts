/** WebGPU: in a browser its own, elsewhere Dawn's, from the package `webgpu`. Values are buffers. */

import { isBrowser } from "./browser.ts";
import { createMachine, type Mode } from "./create.ts";
import { type BufferFacts, type Gpu, type GpuJs, isResident, type ResidentValue, Unusable } from "./gpujs.ts";
import { withFlatResults } from "./host.ts";
import type { Machine } from "./machine.ts";

/** The Dawn instance. It is never released: the process crashes if it is garbage-collected. */
let dawn: unknown;

/** GPUBufferUsage STORAGE, COPY_SRC and COPY_DST: for kernels, reading back and writing. */
const usage = 0x80 | 0x4 | 0x8;

/** A machine on WebGPU. Rejects if there is no adapter, or outside of browsers no package `webgpu`. */
export async function openWebGpu(gpujs: GpuJs): Promise<Machine> {
  const start = async () => ({
    context: await acquire(gpujs),
    gpu: withFlatResults(new gpujs.GPU({ mode: "webgpu" })),
  });
  if (!isBrowser) dawn ??= await loadDawn();
  const { context, gpu } = await (isBrowser ? start() : withNavigator(dawn, start));
  const machine = createMachine(gpujs, gpu, await modeOn(gpujs, context, gpu));
  return {
    ...machine,
    close() {
      machine.close();
      gpu.destroy();
    },
  };
}

async function acquire({ WebGPUContext }: GpuJs): Promise<BufferFacts["context"]> {
  try {
    return await WebGPUContext.acquire();
  } catch {
    const driver = "install a driver with Vulkan, such as that of the graphics card or mesa-vulkan-drivers";
    throw new Unusable("WebGPU finds no adapter", driver);
  }
}

async function modeOn(
  gpujs: GpuJs,
  context: BufferFacts["context"],
  gpu: Gpu,
): Promise<Mode<ResidentValue & BufferFacts>> {
  // gpu.js reads a buffer back through a kernel, whichever.
  const reader = gpu.createKernel("function () { return 0; }", {
    output: [1],
    precision: "single",
    pipeline: true,
    immutable: true,
    loopMaxIterations: 1,
    tactic: "precision",
  });
  await reader();
  const { kernel } = reader;
  const wrap = (buffer: BufferFacts["buffer"], length: number) =>
    new gpujs.WebGPUBufferResult({ buffer, output: [length], componentCount: 1, context, kernel });
  const { device } = context;
  const adapter = adapterName(context);
  return {
    traits: {
      mode: "webgpu",
      adapter,
      // Every WebGPU device supports 128 MiB in a buffer of a kernel.
      mostElements: 2 ** 25,
      vectors: 0,
      grids: true,
      // Kernels of gpu.js have no buffers of vectors.
      packs: false,
      groups: false,
      lanes: false,
      unrolls: 0,
      floats: true,
      block: [8, 8],
      bakes: false,
    },
    place(elements) {
      const buffer = device.createBuffer({ size: Math.max(4, elements.byteLength), usage });
      device.queue.writeBuffer(buffer, 0, elements);
      return wrap(buffer, elements.length);
    },
    adopt(result, length) {
      if (!isBuffer(result)) throw new Error("gpu.js did not return a buffer");
      // The four elements of a thread are adjacent, so the buffer is always a flat list.
      const flat = wrap(result.buffer, length);
      result.delete();
      return flat;
    },
    argument: (buffer) => buffer,
    read: (buffer) =>
      isSoftware(adapter) && !isBrowser ? quietly(Promise.resolve(buffer.toArray())) : buffer.toArray(),
    free: (buffer) => buffer.delete(),
  };
}

function isBuffer(result: unknown): result is ResidentValue & BufferFacts {
  return isResident(result) && "buffer" in result;
}

/** Returns whether a driver computes on the processor, by the name of its adapter. */
export function isSoftware(adapter: string): boolean {
  return /llvmpipe|lavapipe|swiftshader|software/i.test(adapter);
}

/** Milliseconds that the thread sleeps between two turns of the event loop. */
const rest = 0.05;

/**
 * Waits for a result of a driver that computes on the processor. Meanwhile Dawn keeps the event loop busy, which would take a processor
 * from the driver's threads.
 */
export function quietly<Result>(result: Promise<Result>): Promise<Result> {
  const bed = new Int32Array(new SharedArrayBuffer(4));
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const turn = () => {
    if (isOver) return;
    Atomics.wait(bed, 0, 0, rest);
    setImmediate(turn);
  };
  result.then(end, end);
  setImmediate(turn);
  return result;
}

function adapterName({ adapter: { info } }: BufferFacts["context"]): string {
  const names = [info?.description, info?.device, info?.architecture, info?.vendor];
  return names.find((name): name is string => typeof name === "string" && name !== "") ?? "unknown adapter";
}

async function loadDawn(): Promise<unknown> {
  // Not a constant: the package is optional, so bundlers and compilers must not look for it.
  const specifier: string = "webgpu";
  const { create }: { readonly create: unknown } = await import(specifier);
  if (typeof create !== "function") throw new Error("the package webgpu is not one that nnhal knows; 0.6.2 is");
  return create([]);
}

/** Runs a function with `navigator.gpu` defined, where gpu.js looks for WebGPU when it starts. */
async function withNavigator<T>(gpu: unknown, run: () => Promise<T>): Promise<T> {
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
  try {
    return await run();
  } finally {
    Reflect.deleteProperty(globalThis, "navigator");
    if (before !== undefined) Object.defineProperty(globalThis, "navigator", before);
  }
}
