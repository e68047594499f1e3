/**
 * Writing kernels. A kernel is the body of a function that computes one element of a value, or four adjacent ones, from elements
 * of other values. Extents and scalars are written into it as numbers, so that gpu.js sees constant loops.
 *
 * Three rules of gpu.js: a variable that is set to an index is still a float, which is exact up to 2^24 and must be truncated wherever it
 * is used; so indexes are declared with `index` and counted with `loop`. Variables that start with an extent and are counted by `++` are
 * whole numbers. `/` never rounds; so whole quotients need `quotient`.
 */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, ensure } from "@nnhal/operations";
import type { Machine, Program, Read, Width } from "../machine/machine.ts";
import { codeOf, enclose, type Index, indexAt, isSimple, literal, quotientOf, times } from "./_index.ts";
import { inOneRow, type LayoutTarget, LEAST_ROWS, layOut, thread } from "./_layout.ts";

/** An input of code: a tensor of the graph, the result of other code, or constant numbers. */
export type Source = KernelTensor | Stage | Packed;

/** Numbers that are derived from a constant when the kernel is prepared. */
export interface Packed {
  readonly packed: Float32Array;
}

/** A program and its sources. */
export interface Stage {
  readonly program: Program;
  readonly sources: readonly Source[];
}

/** An element of a source, by its index. */
export type At = (index: string | Index) => string;

/** Four elements as code. */
export type Four = readonly [string, string, string, string];

/** Four adjacent elements of a source, by their row and their group in it. Adds statements. */
export type FourAt = (row: string | Index, group: string | Index) => Four;

/** The results of a thread as code. */
export type Elements = string | Four;

/** Writes the code of a kernel. All code that it returns for an expression is an operand: see `enclosed`. */
export interface Writer {
  /** The coordinates of the element as code, by axis; with four elements, of the first. */
  readonly at: readonly string[];
  /** The index of the element among all, as code; with four elements, of the first. */
  readonly flat: string;
  /** With four elements: the index of their group along the last axis, as code. */
  readonly group: string;
  /** The index of the element along all axes except the last, as code. */
  readonly row: string;
  /** See `Machine.unrolls`. */
  readonly unrolls: number;
  /** Returns whether a condition may differ among threads that are computed together. See `Machine.lanes`. */
  isDivided(condition: string): boolean;
  /** Makes a source readable. */
  read(source: Source): At;
  /** Makes a source readable in groups of four, as rows of a number of columns that is a multiple of four. */
  four(source: Source, columns: number): FourAt;
  /** The four elements of a source at the positions of the thread's elements; the source has the result's shape. Adds statements. */
  fourHere(source: Source): Four;
  /** Adds statements. */
  line(code: string): void;
  /** Adds a constant and returns its name. */
  define(value: string): string;
  /** Adds a variable and returns its name. */
  variable(start: string): string;
  /** Declares an index. Returns its name, or the code itself. */
  index(code: string): string;
  /** An index that is read or computed as a float: its whole part. */
  truncate(code: string): string;
  /** A real number as a float32, also where numbers of JavaScript have more digits: equal numbers must be equal however they were made. */
  single(code: string): string;
  /** The whole part of a quotient of an index by an extent. */
  quotient(index: string, by: number): string;
  /** Adds statements in a block with a head such as `if (…)`. */
  block(head: string, body: () => void): void;
  /** Adds a loop over the whole numbers from 0. The body gets the number as code. */
  loop(count: number, body: (counter: string) => void): void;
}

/** Writes the code of an element, or of four, and returns their values as code. */
export type Write = (writer: Writer) => Elements;

/** The shape of a result of code. */
export interface Grid {
  readonly dimensions: readonly number[];
  /** Elements per thread. Four only if the last extent is a multiple of four. */
  readonly width?: Width;
  /** True if the code needs no coordinates; threads are then in one row. */
  readonly flat?: boolean;
}

/** The properties of a machine that the code depends on. */
export type Target = LayoutTarget & Pick<Machine, "mostElements" | "bakes" | "packs" | "lanes" | "unrolls" | "floats">;

/** The most values that a kernel of WebGPU may read besides its result. */
const MOST_READS = 7;

/** The most elements of a constant that is copied in each run. */
const MOST_COPIED = 4096;

/** The reads of a stage: values that come with each run, and elements that never change, each under a name for each form. */
function createReads(target: Target) {
  const sources: Source[] = [];
  const reads: Read[] = [];
  const constants: Record<string, Float32Array> = {};
  const names = new Map<string, Map<unknown, string>>();
  let named = 0;
  const nameOf = (source: Source, form: Pick<Read, "width" | "groups">): string => {
    const key = JSON.stringify(form);
    const known = names.get(key)?.get(identityOf(source));
    if (known !== undefined) return known;
    const constantElements = target.bakes ? neverChanging(source) : undefined;
    const constant = `c${named}`;
    const name = constantElements === undefined ? `a${named}` : `this.constants.${constant}`;
    named++;
    names.set(key, (names.get(key) ?? new Map<unknown, string>()).set(identityOf(source), name));
    if (constantElements !== undefined) constants[constant] = constantElements;
    else {
      ensureCount(lengthOf(source), target);
      sources.push(source);
      reads.push({ name, length: lengthOf(source), ...form });
    }
    return name;
  };
  return { sources, reads, constants, nameOf };
}

/** Creates a stage of code for a machine. */
export function writeStage({ dimensions, width = 1, flat: isFlat = false }: Grid, target: Target, write: Write): Stage {
  const { packs, lanes, unrolls, floats } = target;
  ensureCount(elementCount(dimensions), target);
  const { sources, reads, constants, nameOf } = createReads(target);
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
    // WebGPU treats a sum of literals as a float.
    const made = /[a-z]/i.test(code) ? code : `0 * ${name} + ${enclose(code)}`;
    lines.push(`let ${name} = this.output.x; ${name}++; ${name} = ${made};`);
    return name;
  };
  // A whole number is not truncated in place, which is slow in OpenGL.
  const whole = (code: string): string => (floats ? index(`${enclose(code)} >> 0`) : index(`Math.floor(${code})`));
  const quotient = (dividend: string, by: number): string => {
    const code = quotientOf(dividend, by);
    return floats && by > 1 ? whole(code) : code;
  };
  const { threads, at, row, flat, groups } = isFlat
    ? // Its coordinates are not needed, so they are not computed.
      inOneRow(dimensions, width, quotientOf)
    : layOut(dimensions, width, target, quotient);
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
      // In a value that is made in groups, adjacent rows read adjacent elements.
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
    truncate: whole,
    single: (code) => (floats ? enclose(code) : `Math.fround(${code})`),
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

function ensureCount(count: number, target: Pick<Machine, "mostElements">): void {
  const reason = whyTooMany(count, target);
  ensure(reason === undefined, () => `${reason}`);
}

/** Why a value cannot have so many elements; undefined if it can. */
export function whyTooMany(count: number, { mostElements }: Pick<Machine, "mostElements">): string | undefined {
  if (count <= mostElements) return undefined;
  return `a value of ${count} elements is more than the ${mostElements} that this mode of gpu.js has indexes for`;
}

/** A number of the model as code. gpu.js has no literals for infinities and NaN, so these are read from a constant. */
export function scalar({ read }: Pick<Writer, "read">, value: number): string {
  return Number.isFinite(value) ? literal(value) : read({ packed: Float32Array.of(value) })("0");
}

/** The key of a source. */
function identityOf(source: Source): unknown {
  return "index" in source ? source.index : source;
}

/** The elements of a source that the program holds, since copying them in each run takes longer. Programs without them are shared. */
function neverChanging(source: Source): Float32Array | undefined {
  if ("packed" in source) return source.packed;
  if (!("data" in source) || source.data === undefined) return undefined;
  return source.data.length > MOST_COPIED ? Float32Array.from(source.data) : undefined;
}

/** The number of elements of a source. */
function lengthOf(source: Source): number {
  if ("packed" in source) return source.packed.length;
  if ("dimensions" in source) return elementCount(source.dimensions);
  const { threads, width } = source.program;
  return width * elementCount(threads);
}
