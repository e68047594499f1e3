/**
 * Writing kernels: the body of a function that makes one element of a value, or four that lie side by side, of the elements of
 * others. Extents and scalars are written into it as numbers, so that gpu.js sees constant loops.
 *
 * Three rules of gpu.js: a variable that is set to an index is a float all the same, which is exact up to 2^24 and has to be cut off
 * wherever it is used, so that indexes are made with `index`, and counted with `loop`; these make whole numbers of variables that are
 * begun with an extent and counted up by `++`; and `/` never rounds, so that whole quotients need `quotient`.
 */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, ensure, extentProduct } from "@nnhal/operations";
import type { Machine, Program, Read, Width } from "../machine/machine.ts";

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

/** An index: code, and a number that is added to it. What many indexes have in common is computed once if it is the code. */
export interface Index {
  readonly code: string;
  readonly offset: number;
}

/** An element of a source, by its index. */
export type At = (index: string | Index) => string;

/** What four elements are, as code. */
export type Four = readonly [string, string, string, string];

/** Four elements of a source that lie side by side, by their row and their group in it. Adds statements. */
export type FourAt = (row: string | Index, group: string | Index) => Four;

/** What a thread makes, as code. */
export type Elements = string | Four;

/** Where code is written to. */
export interface Writer {
  /** The coordinates of the element as code, by axis; with four elements, of the first. */
  readonly at: readonly string[];
  /** The index of the element among all, as code; with four elements, of the first. */
  readonly flat: string;
  /** With four elements: the index of their group along the last axis, as code. */
  readonly group: string;
  /** The index of the element along all axes but the last, as code. */
  readonly row: string;
  /** See `Machine.unrolls`. */
  readonly unrolls: number;
  /** Whether a condition may hold for some of the threads that are computed as one, and not for others. See `Machine.lanes`. */
  isDivided(condition: string): boolean;
  /** Makes a source readable. */
  read(source: Source): At;
  /** Makes a source, seen as rows of so many columns, a multiple of four, readable by four. */
  four(source: Source, columns: number): FourAt;
  /** The four elements of a source of the result's shape where those of the thread are. Adds statements. */
  fourHere(source: Source): Four;
  /** Adds statements. */
  line(code: string): void;
  /** Adds a constant, and gives its name. */
  define(value: string): string;
  /** Adds a variable, and gives its name. */
  variable(start: string): string;
  /** What is an index from here on: its name, or the code itself. */
  index(code: string): string;
  /** The whole part of a quotient of an index by an extent. */
  quotient(index: string, by: number): string;
  /** Adds statements within a head such as `if (…)`. */
  block(head: string, body: () => void): void;
  /** Adds a loop over the whole numbers from 0, which its body is given as code. */
  loop(count: number, body: (counter: string) => void): void;
}

/** Writes the code of an element, or of four, and gives their values as code. */
export type Write = (writer: Writer) => Elements;

/** The shape of what code makes. */
export interface Grid {
  readonly dimensions: readonly number[];
  /** Elements that a thread makes. Four only where the last extent is a multiple of four. */
  readonly width?: Width;
  /** Whether the code needs no coordinates: threads are then in one row. */
  readonly flat?: boolean;
}

/** What the code depends on. */
export type Target = Pick<Machine, "bakes" | "grids" | "block" | "packs" | "groups" | "lanes" | "unrolls" | "floats">;

const thread = { x: "this.thread.x", y: "this.thread.y", z: "this.thread.z" };

/** Values that a kernel of WebGPU may read besides the one that it makes. */
const MOST_READS = 7;

/** Elements up to which an index is found in float32. */
const MOST_IN_A_ROW = 2 ** 23;

/** Elements of a constant that cost next to nothing to copy. */
const MOST_COPIED = 4096;

/** Threads of WebGPU along one axis. */
const MOST_THREADS = 65535;

/** Rows from which on threads that make groups of columns are worth it. */
const LEAST_ROWS = 8;

/** Makes a stage of code for some machine. */
export function writeStage({ dimensions, width = 1, flat: isFlat = false }: Grid, target: Target, write: Write): Stage {
  const { bakes, packs, lanes, unrolls, floats } = target;
  const sources: Source[] = [];
  const reads: Read[] = [];
  const constants: Record<string, Float32Array> = {};
  const names = new Map<string, Map<unknown, string>>();
  let named = 0;
  const lines: string[] = [];
  let count = 0;
  const varying = new Set<string>();
  const isVarying = (code: string) =>
    (code.match(/this\.thread\.x|\bn\d+/g) ?? []).some((name) => name === thread.x || varying.has(name));
  const define = (value: string): string => {
    const name = `d${count++}`;
    lines.push(`const ${name} = ${value};`);
    return name;
  };
  const index = (code: string): string => {
    if (isSimple(code)) return code;
    if (!floats) return define(code);
    const name = `n${count++}`;
    if (isVarying(code)) varying.add(name);
    lines.push(`let ${name} = this.output.x; ${name}++; ${name} = ${code};`);
    return name;
  };
  const quotient = (whole: string, by: number): string => {
    const code = quotientOf(whole, by);
    // A whole number is not cut off in place, which takes long in OpenGL.
    return floats && by > 1 ? index(`${code} >> 0`) : code;
  };
  const { threads, at, row, flat, groups } = isFlat
    ? inOneRow(dimensions, width, quotient)
    : layOut(dimensions, width, target, quotient);
  ensure(
    at.length === 0 || threads.length > 1 || threads[0] <= MOST_IN_A_ROW,
    () => `a value of ${threads[0]} elements is more than the ${MOST_IN_A_ROW} that one row of threads may have`,
  );
  const nameOf = (source: Source, form: Pick<Read, "width" | "groups">): string => {
    const key = JSON.stringify(form);
    const known = names.get(key)?.get(identityOf(source));
    if (known !== undefined) return known;
    const constantElements = bakes ? neverChanging(source) : undefined;
    const constant = `c${named}`;
    const name = constantElements === undefined ? `a${named}` : `this.constants.${constant}`;
    named++;
    names.set(key, (names.get(key) ?? new Map<unknown, string>()).set(identityOf(source), name));
    if (constantElements !== undefined) constants[constant] = constantElements;
    else {
      sources.push(source);
      reads.push({ name, length: lengthOf(source), ...form });
    }
    return name;
  };
  const last = at[at.length - 1] ?? "0";
  const writer: Writer = {
    at: width === 4 ? [...at.slice(0, -1), times(4, last)] : at,
    flat: times(width, flat),
    group: last,
    row,
    unrolls,
    isDivided: (condition) => lanes && isVarying(condition),
    read(source) {
      const name = nameOf(source, { width: 1, groups: 1 });
      return (at) => `${name}[${codeOf(at)}]`;
    },
    four(source, columns) {
      const inRow = columns / 4;
      if (packs) {
        const name = nameOf(source, { width: 4, groups: 1 });
        return (fourRow, group) => {
          const four = define(`${name}[${codeOf(indexAt([fourRow, group], [inRow, 1]))}]`);
          return [`${four}[0]`, `${four}[1]`, `${four}[2]`, `${four}[3]`];
        };
      }
      // What rows side by side read of a value that is made in groups lies side by side in it.
      const rows = lengthOf(source) / columns;
      const isGrouped = groups > 1 && inRow > 1 && rows >= LEAST_ROWS && "index" in source && source.data === undefined;
      const name = nameOf(source, { width: 1, groups: isGrouped ? inRow : 1 });
      return (fourRow, group) => {
        const { code, offset } = indexAt([fourRow, group], isGrouped ? [4, 4 * rows] : [columns, 4]);
        const first = index(code);
        const [a, b, c, d] = [0, 1, 2, 3].map((place) => `${name}[${codeOf({ code: first, offset: offset + place })}]`);
        return [a, b, c, d];
      };
    },
    fourHere(source) {
      if (groups > 1) return writer.four(source, dimensions[dimensions.length - 1])(row, last);
      return writer.four(source, lengthOf(source))("0", flat);
    },
    line: (code) => lines.push(code),
    define,
    variable(start) {
      const name = `v${count++}`;
      lines.push(`let ${name} = ${start};`);
      return name;
    },
    index,
    quotient,
    block(head, body) {
      lines.push(`${head} {`);
      body();
      lines.push("}");
    },
    loop(turns, body) {
      const name = `i${count++}`;
      const counter = floats ? `n${count++}` : name;
      if (floats) lines.push(`let ${counter} = this.output.x; ${counter}++; ${counter} = 0;`);
      writer.block(`for (let ${name} = 0; ${name} < ${turns}; ${name}++)`, () => {
        body(counter);
        if (floats) lines.push(`${counter}++;`);
      });
    },
  };
  const values = write(writer);
  ensure(reads.length <= MOST_READS, () => `a kernel would read ${reads.length} values, more than ${MOST_READS}`);
  lines.push(typeof values === "string" ? `return ${values};` : `return [${values.join(", ")}];`);
  return { program: { reads, constants, body: lines.join("\n"), threads, width, groups }, sources };
}

/** What tells sources apart. */
function identityOf(source: Source): unknown {
  return "index" in source ? source.index : source;
}

/** The elements of a source that are better held than copied for each run. Programs that hold none are shared. */
function neverChanging(source: Source): Float32Array | undefined {
  if ("packed" in source) return source.packed;
  if (!("data" in source) || source.data === undefined) return undefined;
  return source.data.length > MOST_COPIED ? Float32Array.from(source.data) : undefined;
}

/** How many elements a source has. */
function lengthOf(source: Source): number {
  if ("packed" in source) return source.packed.length;
  if ("dimensions" in source) return elementCount(source.dimensions);
  const { threads, width } = source.program;
  return width * elementCount(threads);
}

/** How threads are laid out, and code of where one is: coordinates and indexes count groups of `width` elements. */
interface Layout {
  readonly threads: readonly number[];
  readonly at: readonly string[];
  readonly row: string;
  readonly flat: string;
  readonly groups: number;
}

type Quotient = (index: string, by: number) => string;

function layOut(dimensions: readonly number[], width: Width, target: Target, quotient: Quotient): Layout {
  if (width === 4 && target.groups && extentProduct(dimensions, 0, dimensions.length - 1) >= LEAST_ROWS) {
    return inGroups(dimensions, quotient);
  }
  const grid = inGrid(dimensions, width, quotient);
  return !target.grids || isWasteful(grid.threads, target.block) ? inOneRow(dimensions, width, quotient) : grid;
}

/** Whether more than a fifth of the threads of the blocks that a grid is divided into would be idle. */
function isWasteful([x, y = 1]: readonly number[], [width, height]: readonly [number, number]): boolean {
  const filled = Math.ceil(x / width) * width * Math.ceil(y / height) * height;
  return x * y < 0.8 * filled;
}

/** All threads in one row. */
function inOneRow(dimensions: readonly number[], width: Width, quotient: Quotient): Layout {
  const extents = dimensions.map((extent, axis) => (axis === dimensions.length - 1 ? extent / width : extent));
  const row = quotient(thread.x, extents[extents.length - 1] ?? 1);
  return { threads: [elementCount(extents)], at: unravel(thread.x, extents, quotient), row, flat: thread.x, groups: 1 };
}

/** The last axis is x, the one before y, the rest z; where that is too deep for a GPU, y is all but the last. */
function inGrid(dimensions: readonly number[], width: Width, quotient: Quotient): Layout {
  const last = dimensions.length - 1;
  const x = last < 0 ? 1 : dimensions[last] / width;
  const alone = { row: "0", flat: thread.x, groups: 1 };
  if (last < 1) return { threads: [x], at: [thread.x].slice(0, dimensions.length), ...alone };
  const isDeep = extentProduct(dimensions, 0, last - 1) > MOST_THREADS;
  const outer = dimensions.slice(0, isDeep ? last : last - 1);
  const inner = isDeep ? [] : [thread.y];
  const y = isDeep ? elementCount(outer) : dimensions[last - 1];
  const z = isDeep ? 1 : elementCount(outer);
  const threads = [x, y, z].slice(0, z > 1 ? 3 : y > 1 ? 2 : 1);
  const at = [...unravel(isDeep ? thread.y : thread.z, outer, quotient), ...inner, thread.x];
  const row = z > 1 ? `(${thread.y} + ${y} * ${thread.z})` : y > 1 ? thread.y : "0";
  return { threads, at, row, flat: ravel([thread.x, row], [1, x]), groups: 1 };
}

/** Rows side by side are threads side by side, along one axis where these go well into fours; groups of columns are apart. */
function inGroups(dimensions: readonly number[], quotient: Quotient): Layout {
  const outer = dimensions.slice(0, -1);
  const rows = elementCount(outer);
  const groups = dimensions[dimensions.length - 1] / 4;
  const extent = outer[outer.length - 1];
  if (extent < rows && (extent % 4 === 0 || extent > 12)) {
    const row = `(${extent} * ${thread.y} + ${thread.x})`;
    const at = [...unravel(thread.y, outer.slice(0, -1), quotient), thread.x, thread.z];
    return { threads: [extent, rows / extent, groups], at, row, flat: `(${groups} * ${row} + ${thread.z})`, groups };
  }
  const at = [...unravel(thread.x, outer, quotient), thread.y];
  const flat = `(${groups} * ${thread.x} + ${thread.y})`;
  return { threads: [rows, groups], at, row: thread.x, flat, groups };
}

/** The coordinates in a shape of an index, as code. */
export function unravel(index: string, dimensions: readonly number[], quotient: Quotient): string[] {
  const axes = dimensions.flatMap((extent, axis) => (extent > 1 ? [axis] : []));
  const result = dimensions.map(() => "0");
  axes.forEach((axis, place) => {
    const inner = extentProduct(dimensions, axis + 1);
    const whole = quotient(index, inner);
    result[axis] =
      place === 0 ? whole : `(${whole} - ${dimensions[axis]} * ${quotient(index, inner * dimensions[axis])})`;
  });
  return result;
}

/** The whole part of a quotient of a whole number by an extent. Half is added since GPUs divide with an error. */
export function quotientOf(index: string, by: number): string {
  return by === 1 ? index : `Math.floor((${index} + 0.5) / ${by})`;
}

function indexOf(index: string | Index): Index {
  return typeof index === "string" ? { code: index, offset: 0 } : index;
}

/** An index as code. */
export function codeOf(index: string | Index): string {
  const { code, offset } = indexOf(index);
  if (offset === 0) return code;
  return code === "0" ? `${offset}` : `${code} + ${offset}`;
}

/** Σ stride · coordinate, whose numbers are added up now. */
export function indexAt(coordinates: readonly (string | Index)[], strides: readonly number[]): Index {
  const indexes = coordinates.map(indexOf);
  const code = ravel(
    indexes.map((index) => index.code),
    strides,
  );
  return {
    code: enclosed(code),
    offset: strides.reduce((sum, stride, axis) => sum + stride * indexes[axis].offset, 0),
  };
}

/** Whether code is a name or a number. */
function isSimple(code: string): boolean {
  return /^[\w.]+$/.test(code);
}

/** Code that can stand beside any operator. */
function enclosed(code: string): string {
  if (isSimple(code)) return code;
  let depth = 0;
  const end = [...code].findIndex((sign) => {
    if (sign === "(") depth++;
    if (sign === ")") depth--;
    return depth === 0;
  });
  return end === code.length - 1 ? code : `(${code})`;
}

/** An index and some more. */
export function plus(index: string, more: number): string {
  return more === 0 ? index : `${index} + ${more}`;
}

/** An index times some elements. */
export function times(step: number, index: string): string {
  if (step === 1 || index === "0") return index;
  return `${step} * ${enclosed(index)}`;
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
