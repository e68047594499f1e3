/** OpenGL without a window: values are textures. */
import { createMachine, type Mode } from "./create.ts";
import { type GpuJs, isResident, type ResidentValue, Unusable } from "./gpujs.ts";
import type { Compiled, Machine } from "./machine.ts";

/** A machine on OpenGL. Throws where the package `gl` is missing, was not built, or finds no display. */
export function openHeadlessGl(gpujs: GpuJs): Machine {
  if (!gpujs.GPU.isHeadlessGLSupported) {
    throw new Unusable(
      "the package gl is not installed, its native part was not built, or there is no display",
      "npm install gl, where npm may run its script; without a screen start the program with xvfb-run",
    );
  }
  const gpu = new gpujs.GPU({ mode: "headlessgl" });
  const uploads = new Map<number, Compiled>();
  const mode: Mode<ResidentValue> = {
    name: "headlessgl",
    // A texture of four elements a pixel cannot be read by one of them.
    vectors: Number.POSITIVE_INFINITY,
    // Textures are laid out by the extents of the threads that made them; a kernel must not be able to tell.
    grids: false,
    block: [1, 1],
    bakes: false,
    place(elements, compile) {
      // Only a kernel makes a texture; one that copies its argument is an upload.
      const { length } = elements;
      const upload = uploads.get(length) ?? compile({ ...copy, reads: [{ name: "a", length }], threads: [length] });
      uploads.set(length, upload);
      return residentOf(upload.call([gpujs.input(elements, [length])]));
    },
    adopt: residentOf,
    argument: (texture) => texture,
    read: (texture) => texture.toArray(),
    free: (texture) => texture.delete(),
  };
  const machine = createMachine(gpujs, gpu, mode);
  return {
    ...machine,
    close() {
      machine.close();
      gpu.destroy();
    },
  };
}

const copy = { constants: {}, body: "return a[this.thread.x];", width: 1 } as const;

function residentOf(result: unknown): ResidentValue {
  if (!isResident(result)) throw new Error("gpu.js gave no texture");
  return result;
}
