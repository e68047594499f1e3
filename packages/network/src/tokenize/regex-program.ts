/**
 * Searches for a regular expression in time that grows linearly with the text: all ways to match go on side by side, so that none needs to be tried
 * again. Of the matches that begin first the one is found that RE2 and Perl prefer.
 */
import { elementAt } from "@nnhal/operations";
import { failTokenizer } from "../tokenizer.ts";
import type { CharacterSet, Ranges } from "./regex-characters.ts";
import type { Assertion, Expression } from "./regex-parser.ts";

/** A step of a program: a character of a set, a condition of the place, two ways to go on of which the first is preferred, or the end. */
type Step =
  | { readonly is: "set"; readonly has: (code: number) => boolean; readonly cost: number }
  | { readonly is: "assertion"; readonly kind: Assertion }
  | { is: "fork"; first: number; second: number }
  | { readonly is: "match" };

/** The most steps of a program. */
const MOST_STEPS = 5000;

/** Cost of the test of a Unicode property, in steps. */
const PROPERTY_COST = 4;

/** Steps that looking up the forms of a letter counts for. */
const CASE_COST = 3;

/** The most parts that a program is made of, with those that make no step. */
const MOST_PARTS = 100_000;

/** The most steps of all searches in one text: a second or so. */
const MOST_WORK = 2 ** 25;

/** Where a match begins and ends. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Finds the first match in the characters from `from` on, as if the text began there. */
export type Search = (from: number) => Match | undefined;

/** A search for an expression in the characters of any text. Throws a NetworkError for one that needs too many steps. */
export function compileRegex(expression: Expression): (text: Int32Array) => Search {
  const steps: Step[] = [];
  emit(expression, steps, { left: MOST_PARTS, members: new Map() });
  steps.push({ is: "match" });
  return (text) => {
    const searching: Searching = { steps, text, work: 0, round: 0, now: threadsOf(steps), next: threadsOf(steps) };
    return (from) => search(searching, from);
  };
}

/** State that is shared while a program is made. */
interface Parts {
  /** The number that may still be made. */
  left: number;
  /** Tests of sets: one that is repeated is made once. */
  readonly members: Map<CharacterSet, (code: number) => boolean>;
}

/** Appends the steps of an expression. */
function emit(expression: Expression, steps: Step[], parts: Parts): void {
  parts.left--;
  if (parts.left < 0) failTokenizer(`its regular expression repeats more than ${MOST_PARTS} parts`);
  const add = (step: Step) => {
    if (steps.length === MOST_STEPS) failTokenizer(`its regular expression takes more than ${MOST_STEPS} steps`);
    steps.push(step);
    return step;
  };
  const fork = () => {
    const step = { is: "fork" as const, first: steps.length + 1, second: steps.length + 1 };
    add(step);
    return step;
  };
  if (expression.is === "set") {
    const { set, ignoresCase } = expression;
    const has = parts.members.get(set) ?? memberOf(set, ignoresCase);
    parts.members.set(set, has);
    add({ is: "set", has, cost: 1 + (ignoresCase ? CASE_COST : 0) + PROPERTY_COST * set.properties.length });
  } else if (expression.is === "assertion") add({ is: "assertion", kind: expression.kind });
  else if (expression.is === "sequence") for (const part of expression.parts) emit(part, steps, parts);
  else if (expression.is === "choice") {
    const ends: { first: number; second: number }[] = [];
    for (const [place, part] of expression.parts.entries()) {
      const isLast = place === expression.parts.length - 1;
      const before = isLast ? undefined : fork();
      emit(part, steps, parts);
      if (before === undefined) continue;
      ends.push(fork());
      before.second = steps.length;
    }
    for (const end of ends) end.first = end.second = steps.length;
  } else {
    const { part, least, most, isGreedy } = expression;
    for (let time = 0; time < least; time++) emit(part, steps, parts);
    const skips: { first: number; second: number }[] = [];
    const skip = () => {
      const step = fork();
      skips.push(step);
    };
    if (most === Number.POSITIVE_INFINITY) {
      const loop = steps.length;
      skip();
      emit(part, steps, parts);
      const back = fork();
      back.first = back.second = loop;
    } else
      for (let time = least; time < most; time++) {
        skip();
        emit(part, steps, parts);
      }
    for (const step of skips) {
      if (isGreedy) step.second = steps.length;
      else step.first = steps.length;
    }
  }
}

/** Tells whether a character is in a set. Answers for ASCII are kept. */
function memberOf({ ranges, properties, isNegated }: CharacterSet, ignoresCase: boolean): (code: number) => boolean {
  const merged = merge(ranges);
  const isIn = (code: number) =>
    isInRanges(merged, code) || properties.some((property) => property.test(String.fromCodePoint(code)));
  const matches = (code: number) => {
    if (!ignoresCase) return isIn(code) !== isNegated;
    const text = String.fromCodePoint(code);
    const forms = [text, text.toLowerCase(), text.toUpperCase()].map((form) => form.codePointAt(0) ?? code);
    return forms.some(isIn) !== isNegated;
  };
  const known = Uint8Array.from({ length: 128 }, (_, code) => (matches(code) ? 1 : 0));
  return (code) => (code < 128 ? known[code] === 1 : matches(code));
}

/** The same characters in ranges that follow one another, with room between them. */
function merge(ranges: Ranges): Ranges {
  const merged: [number, number][] = [];
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** True if a character is in one of several ranges, which follow one another. */
function isInRanges(ranges: Ranges, code: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [first, last] = elementAt(ranges, middle);
    if (code < first) high = middle;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** Places in a program in the order of preference, each once. */
interface Threads {
  count: number;
  readonly steps: Int32Array;
  /** Where the match of each began. */
  readonly starts: Int32Array;
  /** The round in which a step was last added. */
  readonly rounds: Float64Array;
}

/** The searches in one text. */
interface Searching {
  readonly steps: readonly Step[];
  readonly text: Int32Array;
  work: number;
  /** Counts the characters that all searches have looked at. */
  round: number;
  now: Threads;
  next: Threads;
}

function threadsOf({ length }: readonly Step[]): Threads {
  const rounds = new Float64Array(length).fill(-1);
  return { count: 0, steps: new Int32Array(length), starts: new Int32Array(length), rounds };
}

function spend(searching: Searching, cost = 1): void {
  searching.work += cost;
  if (searching.work > MOST_WORK)
    failTokenizer(`its regular expression takes more than ${MOST_WORK} steps for this text`);
}

function search(searching: Searching, from: number): Match | undefined {
  const { steps, text } = searching;
  let found: Match | undefined;
  searching.now.count = 0;
  searching.next.count = 0;
  searching.round += 2;
  for (let at = from; at <= text.length; at++) {
    const { now, next } = searching;
    if (found === undefined) add(searching, now, { step: 0, start: at, from, at });
    if (now.count === 0 && found !== undefined) break;
    searching.round++;
    for (let thread = 0; thread < now.count; thread++) {
      const place = elementAt(now.steps, thread);
      const start = elementAt(now.starts, thread);
      const step = elementAt(steps, place);
      spend(searching, step.is === "set" ? step.cost : 1);
      if (step.is === "match") {
        found = { start, end: at };
        // Later threads are preferred less.
        break;
      }
      if (step.is === "set" && at < text.length && step.has(elementAt(text, at)))
        add(searching, next, { step: place + 1, start, from, at: at + 1 });
    }
    searching.now = next;
    searching.next = now;
    now.count = 0;
  }
  return found;
}

/** Adds a step, or what follows it up to the next characters: those that are preferred first. */
function add(
  searching: Searching,
  to: Threads,
  { step, start, from, at }: { step: number; start: number; from: number; at: number },
): void {
  const stack = [step];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    if (to.rounds[place] === searching.round) continue;
    spend(searching);
    to.rounds[place] = searching.round;
    const each = elementAt(searching.steps, place);
    if (each.is === "fork") stack.push(each.second, each.first);
    else if (each.is === "assertion") {
      if (holds(each.kind, searching.text, from, at)) stack.push(place + 1);
    } else {
      to.steps[to.count] = place;
      to.starts[to.count] = start;
      to.count++;
    }
  }
}

function holds(kind: Assertion, text: Int32Array, from: number, at: number): boolean {
  const before = at > from ? text[at - 1] : undefined;
  const after = at < text.length ? text[at] : undefined;
  if (kind === "textStart") return before === undefined;
  if (kind === "textEnd") return after === undefined;
  if (kind === "lineStart") return before === undefined || before === 0x0a;
  if (kind === "lineEnd") return after === undefined || after === 0x0a;
  return (isWord(before) !== isWord(after)) === (kind === "wordEdge");
}

function isWord(code: number | undefined): boolean {
  return code !== undefined && code < 128 && /\w/.test(String.fromCharCode(code));
}
