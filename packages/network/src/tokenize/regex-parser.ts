/**
 * Regular expressions as RE2 has them, read into a tree. What RE2 lacks, such as references and looking around, is refused; so are `\Q…\E`, `\C`
 * and octal codes.
 */

import { failTokenizer } from "../tokenizer.ts";
import {
  type CharacterSet,
  codeOf,
  createReader,
  LAST,
  others,
  type Ranges,
  type Reader,
  readBracket,
  readEscape,
} from "./regex-characters.ts";

/** An expression. */
export type Expression =
  | { readonly is: "set"; readonly set: CharacterSet; readonly ignoresCase: boolean }
  | { readonly is: "assertion"; readonly kind: Assertion }
  | { readonly is: "sequence"; readonly parts: readonly Expression[] }
  | { readonly is: "choice"; readonly parts: readonly Expression[] }
  | {
      readonly is: "repeat";
      readonly part: Expression;
      readonly least: number;
      readonly most: number;
      readonly isGreedy: boolean;
    };

/** Condition that holds between two characters. */
export type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "wordEdge" | "noWordEdge";

const MOST_CHARACTERS = 10_000;
const MOST_DEPTH = 200;
const MOST_REPEATS = 1000;

const assertions: Readonly<Record<string, Assertion>> = {
  A: "textStart",
  z: "textEnd",
  b: "wordEdge",
  B: "noWordEdge",
};

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

/** Reads a pattern. Throws a NetworkError for one that is not supported. */
export function parseRegex(pattern: string): Expression {
  if (pattern.length > MOST_CHARACTERS)
    failTokenizer(`its regular expression has ${pattern.length} characters; ${MOST_CHARACTERS} are the most`);
  const reader = createReader(pattern);
  const result = readChoice(reader, { i: false, m: false, s: false, U: false }, 0);
  return reader.peek() === "" ? result : reader.refuse("a parenthesis has no beginning");
}

/** The parts between bars, up to a closing parenthesis or the end. */
function readChoice(reader: Reader, flags: Flags, depth: number): Expression {
  if (depth > MOST_DEPTH) reader.refuse(`groups are more than ${MOST_DEPTH} deep`);
  const parts: Expression[][] = [[]];
  let own = flags;
  while (reader.peek() !== "" && reader.peek() !== ")") {
    if (reader.take("|")) {
      parts.push([]);
      continue;
    }
    const written = readFlags(reader, own);
    if (written?.areForRest) own = written.inner;
    else {
      const part = written === undefined ? readAtom(reader, own, depth) : readGroup(reader, written.inner, depth);
      parts.at(-1)?.push(readRepeats(reader, part, own));
    }
  }
  return { is: "choice", parts: parts.map((each): Expression => ({ is: "sequence", parts: each })) };
}

/** Flags of a group, `(?i:`, or for the rest of the group around, `(?i)`; undefined for another text. */
function readFlags(reader: Reader, flags: Flags): { readonly inner: Flags; readonly areForRest: boolean } | undefined {
  const written = reader.match(/^\(\?([imsU]*)(?:-([imsU]+))?([:)])/);
  if (written === undefined) return undefined;
  const [, on = "", off = "", end] = written;
  const isOn = (flag: keyof Flags) => (flags[flag] || on.includes(flag)) && !off.includes(flag);
  return { inner: { i: isOn("i"), m: isOn("m"), s: isOn("s"), U: isOn("U") }, areForRest: end === ")" };
}

/** Reads the part behind the beginning of a group. */
function readGroup(reader: Reader, flags: Flags, depth: number): Expression {
  const content = readChoice(reader, flags, depth + 1);
  return reader.take(")") ? content : reader.refuse("a group does not end");
}

function readAtom(reader: Reader, flags: Flags, depth: number): Expression {
  const set = (given: CharacterSet): Expression => ({ is: "set", set: given, ignoresCase: flags.i });
  const ofRanges = (ranges: Ranges) => set({ ranges, properties: [], isNegated: false });
  const next = reader.character();
  if (next === "(") {
    if (reader.take("?") && reader.match(/^P?<[A-Za-z_]\w{0,99}>/) === undefined)
      return reader.refuse(`(?${reader.peek()} is not supported`);
    return readGroup(reader, flags, depth);
  }
  if (next === "[") return set(readBracket(reader));
  if (next === ".") return ofRanges(flags.s ? [[0, LAST]] : others([[0x0a, 0x0a]]));
  if (next === "^") return { is: "assertion", kind: flags.m ? "lineStart" : "textStart" };
  if (next === "$") return { is: "assertion", kind: flags.m ? "lineEnd" : "textEnd" };
  if (next === "*" || next === "+" || next === "?") return reader.refuse("there is nothing to repeat");
  if (next !== "\\") return ofRanges([[codeOf(next), codeOf(next)]]);
  const kind = assertions[reader.peek()];
  if (kind !== undefined) {
    reader.character();
    return { is: "assertion", kind };
  }
  const escaped = readEscape(reader);
  return typeof escaped === "number" ? ofRanges([[escaped, escaped]]) : set({ ...escaped, isNegated: false });
}

/** A part with the repetition that follows it. */
function readRepeats(reader: Reader, part: Expression, flags: Flags): Expression {
  const bounds = readBounds(reader);
  if (bounds === undefined) return part;
  const [least, most] = bounds;
  const isGreedy = reader.take("?") === flags.U;
  if (readBounds(reader) !== undefined) return reader.refuse("a repetition is repeated");
  return { is: "repeat", part, least, most, isGreedy };
}

function readBounds(reader: Reader): readonly [least: number, most: number] | undefined {
  if (reader.take("*")) return [0, Number.POSITIVE_INFINITY];
  if (reader.take("+")) return [1, Number.POSITIVE_INFINITY];
  if (reader.take("?")) return [0, 1];
  const bounds = reader.match(/^\{(\d{1,4})(?:(,)(\d{0,4}))?\}/);
  if (bounds === undefined) return undefined;
  const least = Number(bounds[1]);
  const most = bounds[2] === undefined ? least : bounds[3] === "" ? Number.POSITIVE_INFINITY : Number(bounds[3]);
  const isFit = least <= most && least <= MOST_REPEATS && (most <= MOST_REPEATS || bounds[3] === "");
  return isFit ? [least, most] : reader.refuse(`${bounds[0]} is not a repetition of up to ${MOST_REPEATS}`);
}
