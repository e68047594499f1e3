/**
 * What computes: gpu.js in one of its modes. Values are flat lists of float32, wherever the mode keeps them, and programs make
 * one of others.
 */

/** The modes of gpu.js that are used here. */
export type ModeName = "webgpu" | "headlessgl" | "webasm" | "cpu";

/** In the order in which they are preferred. */
export const modeNames = ["webgpu", "headlessgl", "webasm", "cpu"] as const satisfies readonly ModeName[];

/** A value that a program reads. */
export interface Read {
  readonly name: string;
  readonly length: number;
  /** What `name[index]` is in the body: an element, or a list of four. Four only where `Machine.packs`. */
  readonly width: Width;
  /** In how many groups of four columns its elements lie. See `Program.groups`. */
  readonly groups: number;
}

/** Elements that belong together. */
export type Width = 1 | 4;

/** The source of a kernel, and what it is made for. */
export interface Program {
  /** The values that it reads, in order. */
  readonly reads: readonly Read[];
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
  readonly width: Width;
  /**
   * In how many groups of four columns the threads make the result: all rows of the first four, then all of the next four, and so on.
   * More than one only where `Machine.groups`.
   */
  readonly groups: number;
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
  /** What gpu.js takes as an argument for a program that reads it so. */
  argument(read: Read): unknown;
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
  /** The most elements that a value may have. */
  readonly mostElements: number;
  /** How many elements of another value four elements have to share for one thread to make all of them. */
  readonly vectors: number;
  /** Whether threads may have more than one extent. */
  readonly grids: boolean;
  /** Whether elements can be read four at a time, which costs as much as reading one. */
  readonly packs: boolean;
  /**
   * Whether threads side by side had better make four columns of rows side by side, since what they read of weights is then the same.
   * Values may lie in groups of four columns there.
   */
  readonly groups: boolean;
  /** Whether threads side by side are computed as one, so that all had better do what only some need, and these forget it. */
  readonly lanes: boolean;
  /** Windows up to so many cells are faster written out than walked over in loops. */
  readonly unrolls: number;
  /** Whether variables are floats unless told otherwise, so that an index in one has to be cut off wherever it is used. */
  readonly floats: boolean;
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
