/**
 * The characters of a regular expression: escapes, classes in brackets, and Unicode properties, as RE2 has them.
 */
import { failTokenizer } from "../tokenizer.ts";

/** A set of characters. */
export interface CharacterSet {
  readonly ranges: Ranges;
  /** Unicode properties: a character is in the set if one of them matches it. */
  readonly properties: readonly RegExp[];
  readonly isNegated: boolean;
}

export type Ranges = readonly (readonly [first: number, last: number])[];

/** The last character of Unicode. */
export const LAST = 0x10ffff;

const digits: Ranges = [[0x30, 0x39]];
const words: Ranges = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const spaces: Ranges = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
const classes: Readonly<Record<string, Ranges>> = { d: digits, w: words, s: spaces };

const lower: Ranges = [[0x61, 0x7a]];
const upper: Ranges = [[0x41, 0x5a]];
const letters = [...upper, ...lower];
const bracketNames: Readonly<Record<string, Ranges>> = {
  ...{ alnum: [...digits, ...letters], alpha: letters, ascii: [[0, 0x7f]], digit: digits, lower, upper, word: words },
  blank: [
    [9, 9],
    [0x20, 0x20],
  ],
  cntrl: [
    [0, 0x1f],
    [0x7f, 0x7f],
  ],
  graph: [[0x21, 0x7e]],
  print: [[0x20, 0x7e]],
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ],
  space: [
    [9, 0x0d],
    [0x20, 0x20],
  ],
  xdigit: [...digits, [0x41, 0x46], [0x61, 0x66]],
};

const controls: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
/** The complement of ranges. */
export function others(ranges: Ranges): Ranges {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  const result: [number, number][] = [];
  let next = 0;
  for (const [first, last] of sorted) {
    if (first > next) result.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= LAST) result.push([next, LAST]);
  return result;
}

/** A pattern that is being read. */
export interface Reader {
  /** True if a text comes next; it is passed then. */
  take(text: string): boolean;
  /** Match at the current position, which is passed then. `pattern` begins with ^, and matches at most 128 characters. */
  match(pattern: RegExp): RegExpExecArray | undefined;
  /** The next character, which is passed. */
  character(): string;
  /** The character at a distance; empty behind the end. */
  peek(distance?: number): string;
  refuse(why: string): never;
}

/** A reader of a pattern. */
export function createReader(pattern: string): Reader {
  const characters = [...pattern];
  let at = 0;
  const refuse = (why: string): never =>
    failTokenizer(`its regular expression ${JSON.stringify(pattern.slice(0, 100))}: ${why} at character ${at}`);
  return {
    refuse,
    take(text) {
      const isNext = [...text].every((each, place) => characters[at + place] === each);
      if (isNext) at += text.length;
      return isNext;
    },
    match(wanted) {
      const found = wanted.exec(characters.slice(at, at + 128).join("")) ?? undefined;
      if (found !== undefined) at += [...found[0]].length;
      return found;
    },
    character: () => characters[at++] ?? refuse("it ends too early"),
    peek: (distance = 0) => characters[at + distance] ?? "",
  };
}

/** The number of a character. */
export function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Reads the part behind a backslash: one character, or ranges and properties. */
export function readEscape(reader: Reader): number | Pick<CharacterSet, "ranges" | "properties"> {
  const name = reader.character();
  const own = classes[name.toLowerCase()];
  if (own !== undefined) return { ranges: name === name.toLowerCase() ? own : others(own), properties: [] };
  if (name === "p" || name === "P") return { ranges: [], properties: [readProperty(reader, name === "P")] };
  const control = controls[name];
  if (control !== undefined) return control;
  if (name === "x") {
    const [, digitsInBraces, twoDigits] = reader.match(/^(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/) ?? [];
    const code = Number.parseInt(digitsInBraces ?? twoDigits ?? "", 16);
    return code <= LAST ? code : reader.refuse("\\x is not followed by the number of a character");
  }
  if (/[0-9A-Za-z]/.test(name)) reader.refuse(`\\${name} is not supported`);
  return codeOf(name);
}

/** A category or script, such as L or {Greek}. */
function readProperty(reader: Reader, isUpper: boolean): RegExp {
  const [, up = "", inBraces, letter] = reader.match(/^(?:\{(\^?)([A-Za-z_]{1,40})\}|([A-Za-z]))/) ?? [];
  const name = inBraces ?? letter ?? reader.refuse("there is no name of a Unicode property");
  const sign = (up === "^") === isUpper ? "p" : "P";
  for (const each of [name, `Script=${name}`]) {
    try {
      return new RegExp(`^\\${sign}{${each}}$`, "u");
    } catch {
      // It may be a script.
    }
  }
  return reader.refuse(`"${name}" is not a Unicode property`);
}

/** Reads the part behind an opening bracket. */
export function readBracket(reader: Reader): CharacterSet {
  const isNegated = reader.take("^");
  const ranges: (readonly [number, number])[] = [];
  const properties: RegExp[] = [];
  const member = () => {
    const next = reader.character();
    return next === "\\" ? readEscape(reader) : codeOf(next);
  };
  for (let isFirst = true; isFirst || !reader.take("]"); isFirst = false) {
    const [, not, name = ""] = reader.match(/^\[:(\^?)(\w{1,20}):\]/) ?? [];
    if (not !== undefined) {
      const own = bracketNames[name] ?? reader.refuse(`[:${name}:] is not a class`);
      ranges.push(...(not === "^" ? others(own) : own));
      continue;
    }
    const first = member();
    if (typeof first !== "number") {
      ranges.push(...first.ranges);
      properties.push(...first.properties);
      continue;
    }
    const isRange = reader.peek() === "-" && reader.peek(1) !== "]" && reader.peek(1) !== "";
    if (isRange) reader.character();
    const last = isRange ? member() : first;
    if (typeof last !== "number" || last < first) return reader.refuse("a range ends before it begins");
    ranges.push([first, last]);
  }
  return { ranges, properties, isNegated };
}
