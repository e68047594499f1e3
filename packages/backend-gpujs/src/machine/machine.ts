/**
 * What computes: gpu.js in one of its modes. Values are flat lists of float32, wherever the mode keeps them, and programs make
 * one of others.
 */

/** The modes of gpu.js that are used here. */
export type ModeName = "webgpu" | "headlessgl" | "webasm" | "cpu";

/** In the order in which they are preferred. */
export const modeNames = ["webgpu", "headlessgl", "webasm", "cpu"] as const satisfies readonly ModeName[];

/** The source of a kernel, and what it is made for. */
export interface Program {
  /** The values that it reads, in order. In the body `name[index]` is an element. */
  readonly reads: readonly { readonly name: string; readonly length: number }[];
  /**
   * Values that never change: `this.constants.name[index]` in the body. Only where `Machine.bakes`, since other modes keep values
   * where kernels read them.
   */
  readonly constants: Readonly<Record<string, Float32Array>>;
  /** The statements of a function that returns the elements of a thread: a number, or a list of `width` numbers. */
  readonly body: string;
  /** How many threads there are along x, y and z: one to three extents. The elements of x lie side by side. */
  readonly threads: readonly number[];
  /** How many elements a thread makes. See `Machine.vectors`. */
  readonly width: 1 | 4;
}

/** A value. Whoever holds it releases it. */
export interface Value {
  readonly length: number;
  /** One more holder. */
  hold(): Value;
  /** One holder less; the last one frees it. */
  release(): void;
  /** The elements, which are not to be changed. */
  read(): Float32Array | Promise<Float32Array>;
  /** What gpu.js takes as an argument. */
  readonly argument: unknown;
}

/** A program that can run. */
export interface Compiled {
  /** The mode that it has run in, as gpu.js calls it. */
  readonly mode: string | undefined;
  /** As `run`, with arguments and a result of gpu.js. */
  call(values: readonly unknown[]): unknown;
  run(inputs: readonly Value[]): Value | Promise<Value>;
  close(): void;
}

/** gpu.js in one mode. */
export interface Machine {
  readonly mode: ModeName;
  /** What it runs on, where the mode tells. */
  readonly adapter?: string;
  /**
   * How many elements of another value four elements have to share for one thread to make all of them. Infinity: threads make one.
   */
  readonly vectors: number;
  /** Whether threads may have more than one extent. */
  readonly grids: boolean;
  /** How many threads along x and y of a grid are computed as one, whether there are as many or not. */
  readonly block: readonly [x: number, y: number];
  /** Whether arguments are copied for each run, so that what never changes had better be a constant of the program. */
  readonly bakes: boolean;
  /** Makes a value of some elements, which may change after. */
  place(elements: ArrayLike<number>): Value;
  /** The same program is compiled once, as long as it is in use and some time after. Throws where gpu.js cannot. */
  compile(program: Program): Compiled;
  /** What was done so far. */
  readonly statistics: Statistics;
  close(): void;
}

/** Counts since the machine was opened, but for `values`. */
export interface Statistics {
  /** Values that are alive now. */
  readonly values: number;
  readonly placed: number;
  readonly read: number;
  readonly compiled: number;
  readonly runs: number;
}
