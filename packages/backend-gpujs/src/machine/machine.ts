/**
 * A machine is gpu.js in one of its modes. Values are flat lists of float32 in the memory of the mode. Programs compute one value
 * from others.
 */

/** The modes of gpu.js that are used here. */
export type ModeName = "webgpu" | "headlessgl" | "webasm" | "cpu";

/** In order of preference. */
export const modeNames = ["webgpu", "headlessgl", "webasm", "cpu"] as const satisfies readonly ModeName[];

/** A value that a program reads. */
export interface Read {
  readonly name: string;
  readonly length: number;
  /** Elements of `name[index]` in the body: one, or a list of four. Four only if `Machine.packs`. */
  readonly width: Width;
  /** The number of groups of four columns that its elements have. See `Program.groups`. */
  readonly groups: number;
}

/** The number of elements that are read or written together. */
export type Width = 1 | 4;

/** The source of a kernel, with its inputs and threads. */
export interface Program {
  /** The values that it reads, in order. */
  readonly reads: readonly Read[];
  /**
   * Constant values: `this.constants.name[index]` in the body. Only if `Machine.bakes`; other modes keep all values where kernels read
   * them.
   */
  readonly constants: Readonly<Record<string, Float32Array>>;
  /** The statements of a function that returns the elements of a thread: a number, or a list of `width` numbers. */
  readonly body: string;
  /** The number of threads along x, y and z: one to three extents. Elements along x are adjacent. */
  readonly threads: readonly number[];
  /** The number of elements per thread. See `Machine.vectors`. */
  readonly width: Width;
  /**
   * The number of groups of four columns in the result: all rows of the first four, then all rows of the next four, and so on. More than
   * one only if `Machine.groups`.
   */
  readonly groups: number;
}

/** A value. Each holder must release it. */
export interface Value {
  readonly length: number;
  /** Adds a holder. */
  hold(): Value;
  /** Removes a holder. Without a holder the value is freed. */
  release(): void;
  /** The elements, which must not be changed. */
  read(): Float32Array | Promise<Float32Array>;
  /** The argument of gpu.js for a program that reads the value this way. */
  argument(read: Read): unknown;
}

/** A compiled program. */
export interface Compiled {
  /** The mode that it has run in, by its name in gpu.js. */
  readonly mode: string | undefined;
  /** As `run`, with arguments and a result of gpu.js. */
  call(values: readonly unknown[]): unknown;
  run(inputs: readonly Value[]): Value | Promise<Value>;
  close(): void;
}

/** gpu.js in one mode. */
export interface Machine {
  readonly mode: ModeName;
  /** The adapter that it runs on, if the mode reports it. */
  readonly adapter?: string;
  /** The most elements that a value may have. */
  readonly mostElements: number;
  /** The number of shared input elements from which a thread computes four elements instead of one. */
  readonly vectors: number;
  /** True if threads may have more than one extent. */
  readonly grids: boolean;
  /** True if four elements can be read at the cost of one. */
  readonly packs: boolean;
  /**
   * True if adjacent threads should compute four columns of adjacent rows, because they then read the same weights.
   * Values may have groups of four columns.
   */
  readonly groups: boolean;
  /**
   * True if adjacent threads are computed together. It is then better that all threads execute code that only some
   * need, and ignore the result.
   */
  readonly lanes: boolean;
  /** The most cells of a window for which unrolled code is faster than loops. */
  readonly unrolls: number;
  /**
   * True if variables are floats of 32 bits by default, so that an index in a variable must be truncated wherever it is
   * used. Otherwise they are numbers of JavaScript.
   */
  readonly floats: boolean;
  /** The number of threads along x and y of a grid that are computed together, even if the grid has fewer. */
  readonly block: readonly [x: number, y: number];
  /** True if arguments are copied in each run, so that constant values are faster as constants of the program. */
  readonly bakes: boolean;
  /** Creates a value from elements, which may change afterwards. */
  place(elements: ArrayLike<number>): Value;
  /** Compiles a program. The same program is compiled once while it is in use, and stays compiled for some time. Throws if gpu.js fails. */
  compile(program: Program): Compiled;
  /** Counts of what the machine has done. */
  readonly statistics: Statistics;
  close(): void;
}

/** Counts since the machine was opened, except `values`. */
export interface Statistics {
  /** The number of live values. */
  readonly values: number;
  readonly placed: number;
  readonly read: number;
  readonly compiled: number;
  readonly runs: number;
}
