/**
 * Writing kernels: the body of a function that makes one element of a value, or four that lie side by side, of the elements of
 * others. Extents and scalars are written into it as numbers, so that gpu.js sees constant loops.
 *
 * Two rules of gpu.js: a variable that is set to a whole number or to an index is a float all the same, which is exact up to 2^24;
 * and `/` never rounds, so that whole quotients need `quotient`.
 */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, ensure, extentProduct } from "@nnhal/operations";
import type { Machine, Program } from "../machine/machine.ts";

/** What code reads: a tensor of the graph, the result of other code, or numbers that never change. */
export type Source = KernelTensor | Stage | Packed;

/** Numbers made of a constant when the kernel is prepared. */
export interface Packed {
  readonly packed: Float32Array;
}

/** A program, and where what it reads comes from. */
export interface Stage {
  readonly program: Program;
  readonly sources: readonly Source[];
}

/** An element of a source, by its index as code. */
export type At = (index: string) => string;

/** Where code is written to. */
export interface Writer {
  /** The coordinates of the element as code, by axis; with four elements, of the first. */
  readonly at: readonly string[];
  /** The index of the element among all, as code; with four elements, of the first. */
  readonly flat: string;
  /** Makes a source readable. */
  read(source: Source): At;
  /** Adds statements. */
  line(code: string): void;
  /** Adds a constant, and gives its name. */
  define(value: string): string;
}

/** Writes the code of an element, or of four, and gives their values as code. */
export type Write = (writer: Writer) => string | readonly [string, string, string, string];

/** The shape of what code makes. */
export interface Grid {
  readonly dimensions: readonly number[];
  /** Elements that a thread makes. Four only where the last extent is a multiple of four. */
  readonly width?: 1 | 4;
  /** Whether the code needs no coordinates: threads are then in one row. */
  readonly flat?: boolean;
}

const thread = { x: "this.thread.x", y: "this.thread.y", z: "this.thread.z" };

/** Values that a kernel of WebGPU may read besides the one that it makes. */
const MOST_READS = 7;

/** Elements up to which an index is found in float32. */
const MOST_IN_A_ROW = 2 ** 23;

/** Threads of WebGPU along one axis. */
const MOST_THREADS = 65535;

/** Makes a stage of code for some machine. */
export function writeStage(
  { dimensions, width = 1, flat = false }: Grid,
  { bakes, grids, block }: Pick<Machine, "bakes" | "grids" | "block">,
  write: Write,
): Stage {
  const grid = gridOf(dimensions, width);
  const isRow = flat || !grids || isWasteful(grid.threads, block);
  const { threads, at } = isRow ? rowOf(dimensions, width) : grid;
  ensure(
    at.length === 0 || threads.length > 1 || threads[0] <= MOST_IN_A_ROW,
    () => `a value of ${threads[0]} elements is more than the ${MOST_IN_A_ROW} that one row of threads may have`,
  );
  const sources: Source[] = [];
  const reads: { name: string; length: number }[] = [];
  const constants: Record<string, Float32Array> = {};
  const names = new Map<unknown, string>();
  const lines: string[] = [];
  let defined = 0;
  const [x, y = 1] = threads;
  const index = [thread.x, ...(threads.length > 1 ? [`${x} * ${thread.y}`] : [])];
  if (threads.length > 2) index.push(`${x * y} * ${thread.z}`);
  const writer: Writer = {
    at: at.map((coordinate, axis) => (width === 4 && axis === at.length - 1 ? `4 * ${coordinate}` : coordinate)),
    flat: width === 4 ? `4 * (${index.join(" + ")})` : index.join(" + "),
    read(source) {
      const key = "index" in source ? source.index : source;
      const known = names.get(key);
      const isConstant = bakes && "packed" in source;
      const name = known ?? `${isConstant ? "c" : "a"}${names.size}`;
      names.set(key, name);
      if (known === undefined && isConstant) constants[name] = source.packed;
      if (known === undefined && !isConstant) {
        sources.push(source);
        reads.push({ name, length: lengthOf(source) });
      }
      return isConstant ? (at) => `this.constants.${name}[${at}]` : (at) => `${name}[${at}]`;
    },
    line: (code) => lines.push(code),
    define(value) {
      const name = `d${defined++}`;
      lines.push(`const ${name} = ${value};`);
      return name;
    },
  };
  const values = write(writer);
  ensure(reads.length <= MOST_READS, () => `a kernel would read ${reads.length} values, more than ${MOST_READS}`);
  lines.push(typeof values === "string" ? `return ${values};` : `return [${values.join(", ")}];`);
  return { program: { reads, constants, body: lines.join("\n"), threads, width }, sources };
}

/** How many elements a source has. */
function lengthOf(source: Source): number {
  if ("packed" in source) return source.packed.length;
  if ("dimensions" in source) return elementCount(source.dimensions);
  const { threads, width } = source.program;
  return width * elementCount(threads);
}

/** Whether more than a fifth of the threads of the blocks that a grid is divided into would be idle. */
function isWasteful([x, y = 1]: readonly number[], [width, height]: readonly [number, number]): boolean {
  const filled = Math.ceil(x / width) * width * Math.ceil(y / height) * height;
  return x * y < 0.8 * filled;
}

/** All threads in one row. */
function rowOf(dimensions: readonly number[], width: number) {
  const extents = dimensions.map((extent, axis) => (axis === dimensions.length - 1 ? extent / width : extent));
  return { threads: [elementCount(extents)], at: unravel(thread.x, extents) };
}

/** The last axis is x, the one before y, the rest z; where that is too deep for a GPU, y is all but the last. */
function gridOf(dimensions: readonly number[], width: number) {
  const last = dimensions.length - 1;
  const x = last < 0 ? 1 : dimensions[last] / width;
  if (last < 1) return { threads: [x], at: [thread.x].slice(0, dimensions.length) };
  const isDeep = extentProduct(dimensions, 0, last - 1) > MOST_THREADS;
  const outer = dimensions.slice(0, isDeep ? last : last - 1);
  const inner = isDeep ? [] : [thread.y];
  const y = isDeep ? elementCount(outer) : dimensions[last - 1];
  const z = isDeep ? 1 : elementCount(outer);
  const threads = [x, y, z].slice(0, z > 1 ? 3 : y > 1 ? 2 : 1);
  return { threads, at: [...unravel(isDeep ? thread.y : thread.z, outer), ...inner, thread.x] };
}

/** The coordinates in a shape of an index, as code. */
export function unravel(index: string, dimensions: readonly number[]): string[] {
  const axes = dimensions.flatMap((extent, axis) => (extent > 1 ? [axis] : []));
  const result = dimensions.map(() => "0");
  axes.forEach((axis, place) => {
    const inner = extentProduct(dimensions, axis + 1);
    const whole = inner === 1 ? index : quotient(index, inner);
    result[axis] =
      place === 0 ? whole : `(${whole} - ${dimensions[axis]} * ${quotient(index, inner * dimensions[axis])})`;
  });
  return result;
}

/** The whole part of a quotient of a whole number by an extent. Half is added since GPUs divide with an error. */
export function quotient(index: string, by: number): string {
  return by === 1 ? index : `Math.floor((${index} + 0.5) / ${by})`;
}

/**
 * offset + Σ stride · coordinate, without what is 0. A result of one element may have a coordinate that goes with no stride. OpenGL
 * takes a negative factor for a float, which is no index.
 */
export function ravel(coordinates: readonly string[], strides: readonly number[], offset = 0): string {
  let index = offset === 0 ? "" : `${offset}`;
  strides.forEach((stride, axis) => {
    const coordinate = coordinates[axis];
    if (stride === 0 || coordinate === "0") return;
    const term = Math.abs(stride) === 1 ? coordinate : `${Math.abs(stride)} * ${coordinate}`;
    if (stride < 0) index = `${index || "0"} - ${term}`;
    else index = index === "" ? term : `${index} + ${term}`;
  });
  return index || "0";
}

/** A number as code. gpu.js knows no infinite ones. */
export function literal(value: number): string {
  const most = 3.4028234663852886e38;
  const finite = Math.min(Math.max(value, -most), most);
  return finite < 0 || Object.is(finite, -0) ? `(${finite})` : `${finite}`;
}
