/**
 * Writing kernels: the body of a function that makes one element of a value, or four that lie side by side, of the elements of
 * others. Extents and scalars are written into it as numbers, so that gpu.js sees constant loops.
 *
 * Three rules of gpu.js: a variable that is set to an index is a float all the same, which is exact up to 2^24 and has to be cut off
 * wherever it is used, so that indexes are made with `index`, and counted with `loop`; these make whole numbers of variables that are
 * begun with an extent and counted up by `++`; and `/` never rounds, so that whole quotients need `quotient`.
 */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, ensure } from "@nnhal/operations";
import type { Machine, Program, Read, Width } from "../machine/machine.ts";
import { codeOf, type Index, indexAt, isSimple, literal, quotientOf, times } from "./_index.ts";
import { inOneRow, type LayoutTarget, LEAST_ROWS, layOut, thread } from "./_layout.ts";

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
  /** An index that is read or computed as a float: its whole part. */
  whole(code: string): string;
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
export type Target = LayoutTarget & Pick<Machine, "mostElements" | "bakes" | "packs" | "lanes" | "unrolls" | "floats">;

/** Values that a kernel of WebGPU may read besides the one that it makes. */
const MOST_READS = 7;

/** Elements of a constant that cost next to nothing to copy. */
const MOST_COPIED = 4096;

/** Makes a stage of code for some machine. */
export function writeStage({ dimensions, width = 1, flat: isFlat = false }: Grid, target: Target, write: Write): Stage {
  const { bakes, packs, lanes, unrolls, floats } = target;
  ensureRoom(elementCount(dimensions), target);
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
    // WebGPU takes a sum of numbers alone for a float.
    const made = /[a-z]/i.test(code) ? code : `0 * ${name} + ${code}`;
    lines.push(`let ${name} = this.output.x; ${name}++; ${name} = ${made};`);
    return name;
  };
  // A whole number is not cut off in place, which takes long in OpenGL.
  const whole = (code: string): string => (floats ? index(`${code} >> 0`) : index(`Math.floor(${code})`));
  const quotient = (dividend: string, by: number): string => {
    const code = quotientOf(dividend, by);
    return floats && by > 1 ? whole(code) : code;
  };
  const { threads, at, row, flat, groups } = isFlat
    ? // Nobody needs its coordinates, which are not computed then.
      inOneRow(dimensions, width, quotientOf)
    : layOut(dimensions, width, target, quotient);
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
      ensureRoom(lengthOf(source), target);
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
    whole,
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

function ensureRoom(count: number, target: Pick<Machine, "mostElements">): void {
  const reason = whyTooMany(count, target);
  ensure(reason === undefined, () => `${reason}`);
}

/** Why a value of so many elements cannot be. */
export function whyTooMany(count: number, { mostElements }: Pick<Machine, "mostElements">): string | undefined {
  if (count <= mostElements) return undefined;
  return `a value of ${count} elements is more than the ${mostElements} that this mode of gpu.js has indexes for`;
}

/** A number of the model as code. gpu.js has no names for infinities and NaN, which are read. */
export function scalar({ read }: Pick<Writer, "read">, value: number): string {
  return Number.isFinite(value) ? literal(value) : read({ packed: Float32Array.of(value) })("0");
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
