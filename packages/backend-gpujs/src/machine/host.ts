/** The modes that compute with the processor: WebAssembly, and plain JavaScript. Values are lists in ordinary memory. */

import { createMachine, type Mode } from "./create.ts";
import { flatten } from "./flatten.ts";
import type { Gpu, GpuJs } from "./gpujs.ts";
import type { Machine } from "./machine.ts";

/** A machine in a mode of the processor's. */
export function openHost(gpujs: GpuJs, name: "webasm" | "cpu"): Machine {
  const gpu = new gpujs.GPU({ mode: name });
  const mode: Mode<Float32Array> = {
    name,
    // Else the list that a thread of plain JavaScript makes of its elements costs more than it saves.
    vectors: name === "webasm" ? 0 : 64,
    grids: true,
    block: [name === "webasm" ? 4 : 1, 1],
    // WebAssembly has a memory for each kernel, and copies what it is given.
    bakes: name === "webasm",
    place: (elements) => elements,
    adopt: flatten,
    argument: (elements) => gpujs.input(elements, [elements.length]),
    read: (elements) => elements,
    free() {},
  };
  const machine = createMachine(gpujs, name === "webasm" ? withFlatResults(gpu) : gpu, mode);
  return {
    ...machine,
    close() {
      machine.close();
      gpu.destroy();
    },
  };
}

/** Kernels that give their elements as one list, where gpu.js would make lists of lists of it. */
export function withFlatResults(gpu: Gpu): Gpu {
  return {
    createKernel(source, settings) {
      const created = gpu.createKernel(source, settings);
      const { kernel } = created;
      if ("_shapeOutput" in kernel) Object.assign(kernel, { _shapeOutput: (elements: Float32Array) => elements });
      return created;
    },
    destroy: () => gpu.destroy(),
  };
}
