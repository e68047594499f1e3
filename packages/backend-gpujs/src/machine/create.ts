/**
 * Creates a machine from the parts that differ between the modes: how a value is written to the mode's memory and read from it.
 */

import { flatten } from "./flatten.ts";
import { type Gpu, type GpuJs, type GpuKernel, modeOf } from "./gpujs.ts";
import type { Compiled, Machine, Program, Read, Value } from "./machine.ts";

/** The properties of a machine. */
type Traits = Omit<Machine, "place" | "compile" | "statistics" | "close">;

/** The parts that differ between the modes. */
export interface Mode<Native> {
  readonly traits: Traits;
  /** Takes ownership of elements. */
  place(elements: Float32Array): Native;
  /** The result of a program of `length` elements. */
  adopt(result: unknown, length: number, program: Program): Native;
  /** The argument of gpu.js for a read. `compile` compiles programs that convert the value. */
  argument(native: Native, read: Read, compile: (program: Program) => Compiled): unknown;
  read(native: Native, length: number): unknown;
  free(native: Native): void;
}

/** The most unused programs that stay compiled. */
const IDLE_PROGRAMS = 64;

interface Entry {
  readonly kernel: GpuKernel;
  users: number;
}

/** A machine over an instance of gpu.js. */
export function createMachine<Native>(gpujs: GpuJs, gpu: Gpu, mode: Mode<Native>): Machine {
  const counts = { values: 0, placed: 0, read: 0, compiled: 0, runs: 0 };
  const entries = new Map<string, Entry>();

  const valueFor = (native: Native, length: number): Value => {
    let holders = 1;
    counts.values++;
    const value: Value = {
      length,
      argument: (read) => mode.argument(native, read, compile),
      hold() {
        holders++;
        return value;
      },
      release() {
        if (--holders > 0) return;
        counts.values--;
        mode.free(native);
      },
      read() {
        counts.read++;
        if (length === 0) return new Float32Array(0);
        const given = mode.read(native, length);
        return given instanceof Promise ? given.then((all) => flatten(all, length)) : flatten(given, length);
      },
    };
    return value;
  };

  const build = ({ body, reads, constants, threads }: Program): GpuKernel => {
    counts.compiled++;
    const names = Object.entries(constants).map(([name, values]) => [name, gpujs.input(values, [values.length])]);
    return gpu.createKernel(`function (${reads.map(({ name }) => name).join(", ")}) {\n${body}\n}`, {
      output: threads,
      ...(names.length > 0 && { constants: Object.fromEntries(names) }),
      precision: "single",
      pipeline: true,
      immutable: true,
      loopMaxIterations: 0x7fffffff,
      tactic: "precision",
    });
  };

  const compile = (program: Program): Compiled => {
    const { reads, constants, body, threads, width } = program;
    const length = threads.reduce((product, extent) => product * extent, width);
    const isShared = Object.keys(constants).length === 0;
    const signature = JSON.stringify([threads, reads.map((each) => [each.length, each.width, each.groups]), body]);
    const entry = (isShared && entries.get(signature)) || { kernel: build(program), users: 0 };
    entry.users++;
    if (isShared) {
      // The most recently used programs are last.
      entries.delete(signature);
      entries.set(signature, entry);
    }
    const { kernel } = entry;
    return {
      get mode() {
        return modeOf(kernel);
      },
      call: (values) => kernel(...values),
      run(inputs) {
        counts.runs++;
        const result = kernel(...inputs.map((input, place) => input.argument(reads[place])));
        if (!(result instanceof Promise)) return valueFor(mode.adopt(result, length, program), length);
        return result.then((settled) => valueFor(mode.adopt(settled, length, program), length));
      },
      close() {
        entry.users--;
        if (isShared) dropIdle(entries);
        else kernel.destroy();
      },
    };
  };

  return {
    ...mode.traits,
    place(elements) {
      counts.placed++;
      // A GPU cannot allocate 0 bytes.
      const copied = elements.length === 0 ? new Float32Array(1) : new Float32Array(elements);
      return valueFor(mode.place(copied), elements.length);
    },
    compile,
    statistics: counts,
    close() {
      for (const { kernel } of entries.values()) kernel.destroy();
      entries.clear();
    },
  };
}

/** Drops the least recently used programs among those that are not in use. */
function dropIdle(entries: Map<string, Entry>): void {
  const idle = [...entries].filter(([, { users }]) => users === 0);
  for (const [signature, { kernel }] of idle.slice(0, Math.max(0, idle.length - IDLE_PROGRAMS))) {
    entries.delete(signature);
    kernel.destroy();
  }
}

/** Runs a small program. Throws if it does not run in the mode, or if its result is wrong. */
export async function tryOut(machine: Machine): Promise<void> {
  const input = machine.place([1, 2, 3, 4]);
  const program = machine.compile({
    reads: [{ name: "a", length: 4, width: 1, groups: 1 }],
    constants: {},
    body: "return a[this.thread.x] * 2 + 1;",
    threads: [4],
    width: 1,
    groups: 1,
  });
  try {
    const output = await program.run([input]);
    const elements = await output.read();
    output.release();
    if (elements.join() !== "3,5,7,9") throw new Error(`a first kernel returned ${elements.join()} instead of 3,5,7,9`);
    const expected = machine.mode === "headlessgl" ? "gpu" : machine.mode;
    const mode = program.mode ?? "another mode";
    if (mode !== expected) throw new Error(`gpu.js computes with ${mode} instead`);
  } finally {
    input.release();
    program.close();
  }
}
