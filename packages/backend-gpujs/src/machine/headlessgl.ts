/**
 * OpenGL without a window: values are textures. A pixel has room for four elements, and reading all of them costs as much as reading
 * one, so a value has two forms: one element per pixel, or four. Each form is created when it is first read.
 */
import { createMachine, type Mode } from "./create.ts";
import { type GpuJs, isResident, type ResidentValue, Unusable } from "./gpujs.ts";
import type { Compiled, Machine, Program, Width } from "./machine.ts";

/** A value: textures by elements per pixel, or elements that have not been read yet. */
interface Textures {
  elements?: Float32Array | undefined;
  1?: ResidentValue;
  4?: ResidentValue;
}

/** A machine on OpenGL. Throws if the package `gl` is missing, was not built, or finds no display. */
export function openHeadlessGl(gpujs: GpuJs): Machine {
  if (!gpujs.GPU.isHeadlessGLSupported) {
    throw new Unusable(
      "the package gl is not installed, its native part was not built, or there is no display",
      "npm install gl, where npm may run its script; without a screen start the program with xvfb-run",
    );
  }
  const gpu = new gpujs.GPU({ mode: "headlessgl" });
  const copies = new Map<string, Compiled>();
  // Only a kernel creates a texture. A kernel that copies its argument uploads elements, or converts between the forms.
  const copy = (given: unknown, program: Program, compile: (program: Program) => Compiled): ResidentValue => {
    const key = JSON.stringify([program.threads, program.body]);
    const compiled = copies.get(key) ?? compile(program);
    copies.set(key, compiled);
    return residentOf(compiled.call([given]));
  };
  const mode: Mode<Textures> = {
    traits: {
      mode: "headlessgl",
      // Indexes are computed in float32, with half added.
      mostElements: 2 ** 23,
      vectors: 0,
      // The layout of a texture depends on the threads that made it; kernels must not depend on it.
      grids: false,
      packs: true,
      groups: false,
      lanes: false,
      unrolls: 0,
      floats: true,
      block: [1, 1],
      bakes: false,
    },
    place: (elements) => ({ elements }),
    adopt: (result, _, { width }) => ({ [width]: residentOf(result) }),
    argument(textures, { length, width }, compile) {
      const known = textures[width];
      if (known !== undefined) return known;
      const { elements } = textures;
      const made =
        elements === undefined
          ? copy(
              textures[width === 1 ? 4 : 1],
              width === 1 ? makeUnpacking(length) : makePacking("texture", length),
              compile,
            )
          : copy(gpujs.input(elements, [elements.length]), makeUploading(elements.length, width), compile);
      textures[width] = made;
      textures.elements = undefined;
      return made;
    },
    read: ({ elements, 1: single, 4: packed }) => elements ?? single?.toArray() ?? packed?.toArray(),
    free({ 1: single, 4: packed }) {
      single?.delete();
      packed?.delete();
    },
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

/** A program that reads one value. */
function makeReading(
  name: string,
  length: number,
  widths: { readonly from: Width; readonly to: Width },
  body: string,
): Program {
  const { from, to } = widths;
  return {
    reads: [{ name, length, width: from, groups: 1 }],
    constants: {},
    body,
    threads: [length / to],
    width: to,
    groups: 1,
  };
}

/** The names differ by the kind of argument, so that these are different programs: gpu.js compiles for textures or for lists. */
const makePacking = (name: "list" | "texture", length: number) => {
  const elements = [0, 1, 2, 3].map((place) => `${name}[4 * this.thread.x + ${place}]`);
  return makeReading(name, length, { from: 1, to: 4 }, `return [${elements.join(", ")}];`);
};

const makeUploading = (length: number, width: Width) =>
  width === 4
    ? makePacking("list", length)
    : makeReading("list", length, { from: 1, to: 1 }, "return list[this.thread.x];");

const makeUnpacking = (length: number) =>
  makeReading(
    "texture",
    length,
    { from: 4, to: 1 },
    `const group = Math.floor((this.thread.x + 0.5) / 4);
const place = this.thread.x - 4 * group;
const four = texture[group];
return place < 0.5 ? four[0] : place < 1.5 ? four[1] : place < 2.5 ? four[2] : four[3];`,
  );

function residentOf(result: unknown): ResidentValue {
  if (!isResident(result)) throw new Error("gpu.js did not return a texture");
  return result;
}
