/** The modes that compute on the processor: WebAssembly and plain JavaScript. Values are typed arrays. */

import { createMachine, type Mode } from "./create.ts";
import { flatten } from "./flatten.ts";
import type { Gpu, GpuJs } from "./gpujs.ts";
import type { Machine } from "./machine.ts";

/** Three values with so many elements fit in the 4 GiB of a WebAssembly memory. */
const mostElements = 2 ** 28;

const traits = {
  webasm: {
    mode: "webasm",
    mostElements,
    vectors: 0,
    grids: true,
    packs: false,
    groups: true,
    lanes: true,
    unrolls: 25,
    floats: true,
    block: [4, 1],
    // Each kernel has its own WebAssembly memory, and copies its arguments into it.
    bakes: true,
  },
  cpu: {
    mode: "cpu",
    mostElements,
    // With fewer, the list that a thread of plain JavaScript creates for its elements costs more than it saves.
    vectors: 64,
    grids: true,
    packs: false,
    groups: false,
    lanes: false,
    unrolls: 25,
    floats: false,
    block: [1, 1],
    bakes: false,
  },
} as const;

/** A machine that computes on the processor. */
export function openHost(gpujs: GpuJs, name: "webasm" | "cpu"): Machine {
  const gpu = new gpujs.GPU({ mode: name });
  const mode: Mode<Elements> = {
    traits: traits[name],
    place: (elements) => ({ 1: elements }),
    adopt: (result, length, { groups }) => ({ [groups]: flatten(result, length) }),
    argument(elements, { groups }) {
      const given = arrange(elements, groups);
      return gpujs.input(given, [given.length]);
    },
    read: (elements) => arrange(elements, 1),
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

/** A value: its elements by the number of groups of four columns, for the numbers that were needed. */
type Elements = Record<number, Float32Array | undefined>;

/** The elements of a value in `groups` groups of columns; 1 means row by row. */
function arrange(elements: Elements, groups: number): Float32Array {
  const known = elements[groups];
  if (known !== undefined) return known;
  const [there] = Object.keys(elements).map(Number);
  const given = elements[there] ?? new Float32Array(0);
  const made = groups === 1 ? regroup(given, there, false) : regroup(arrange(elements, 1), groups, true);
  elements[groups] = made;
  return made;
}

/** Reorders elements from rows into groups of four columns, or back. */
function regroup(from: Float32Array, groups: number, intoGroups: boolean): Float32Array {
  const to = new Float32Array(from.length);
  let inGroup = 0;
  for (let group = 0; group < groups; group++) {
    for (let inRow = 4 * group; inRow < from.length; inRow += 4 * groups) {
      const source = intoGroups ? inRow : inGroup;
      const target = intoGroups ? inGroup : inRow;
      to[target] = from[source];
      to[target + 1] = from[source + 1];
      to[target + 2] = from[source + 2];
      to[target + 3] = from[source + 3];
      inGroup += 4;
    }
  }
  return to;
}

/** An instance whose kernels return one list instead of nested lists. */
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
