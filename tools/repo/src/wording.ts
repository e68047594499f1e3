/**
 * Avoided forms in comments, messages and documents. Plain technical English uses short sentences, the field's terms and one
 * word for one thing (CONTRIBUTING.md, "Style"). A program finds only the forms in this table; review finds the others.
 */
import type { SourceFile } from "./workspace.ts";

/** A form that must not appear, and what to write instead. */
interface AvoidedForm {
  /** Matched line by line, in any case. */
  readonly pattern: RegExp;
  readonly instead: string;
  /** Files of other projects' terms. Default: none. */
  readonly exempt?: readonly string[];
}

export const avoidedForms: readonly AvoidedForm[] = [
  { pattern: /\b(nobody|somebody)('s)?\b/i, instead: "a passive, or the name of the part that acts" },
  { pattern: /\bwhoever\b/i, instead: '"the caller", "the reader" or the name of the part that acts' },
  { pattern: /\bbut for\b/i, instead: '"except"' },
  // "There is no" and "has no longer" say that something is absent, which is plain.
  {
    pattern: /(?<!\bthere )\b(is|are) no (?!longer\b|more than\b|less than\b|fewer than\b)/i,
    instead: '"is not a" or "is not a valid"',
  },
  { pattern: /\b(may|might) not\b(?! be\b)/i, instead: '"must not" for a rule, "cannot" for what is impossible' },
  { pattern: /\bgives what\b|\bwhat (this|that|it) gives\b/i, instead: '"returns" and a noun' },
  { pattern: /\bas good as none\b/i, instead: '"is rejected" and the status' },
  { pattern: /\bha(s|ve) to be\b/i, instead: '"must be"; in a message "expected X, got Y"' },
  { pattern: /\bin vain\b/i, instead: 'the effect: "without a result", "is dropped"' },
  { pattern: /\b(is|are) of no use\b/i, instead: 'the reason: "is not needed", "is ignored"' },
  { pattern: /\bwhere (that|there|it) (is|are) none\b/i, instead: '"if there is none"' },
  { pattern: /["'`][^"'`]*\b(is|are) needed\b[^"'`]*["'`]/, instead: 'in a message "expected X, got Y"' },
  { pattern: /["`][^"`]*\b(has|have) come\b[^"`]*["`]/, instead: 'in a message "received X"' },
  // Words of our own for what the field has a term for, also as parts of names.
  { pattern: /(?<![a-z])tickets?(?![a-z])|Tickets?(?![a-z])/, instead: '"reference", or the field that it carries' },
  { pattern: /(?<![a-z])twins?(?![a-z])|Twins?(?![a-z])/, instead: '"copy" or "pair"' },
  { pattern: /(?<![a-z])breathers?(?![a-z])|Breathers?(?![a-z])/, instead: '"limit of a turn"' },
  {
    pattern: /(?<![a-z])carriers?(?![a-z])|Carriers?(?![a-z])/,
    instead: '"channel"',
    // The term of OpenTelemetry for the headers that bring a trace.
    exempt: ["apps/server/src/telemetry.test.ts"],
  },
  { pattern: /(?<![a-z])rooms(?![a-z])|Rooms(?![a-z])/, instead: '"output buffers", "memory"' },
  { pattern: /\b(angry|asleep|torn|lying)\b/i, instead: '"throws", "sleeping", "truncated", "invalid"' },
];

/** Folders of sources: their comments and the names of their functions are checked too. */
const sources = /^(apps|packages|tools)\//;

/** The first word of a block comment, or of the first of several line comments. */
const forbiddenHead =
  /\/\*\*\s*(?:\*\s+)?(What|How|Whether)\b|(?<!^[ \t]*\/\/.*\r?\n)^[ \t]*\/\/\s*(What|How|Whether)\b/gm;

/** A function whose whole name is a participle: it says what the result is like, and not what the function does. */
const participle =
  /\bfunction\*? ((?!(?:feed|need|embed|exceed|proceed|seed|shed|speed|succeed|bring|ring|string)\b)[a-z]*(?:ed|ing)|built|chosen|drawn|found|frozen|given|heard|held|hidden|kept|known|laid|made|sent|shown|taken|thrown|written)\b(?=[<(])/g;

/** Files that must contain the forms: this table and its test. */
const exempt: readonly string[] = ["tools/repo/src/wording.ts", "tools/repo/src/wording.test.ts"];

/** Returns the lines that contain an avoided form, begin a comment with a forbidden word or name a function by a participle, with the form to write instead. */
export function checkWording(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (exempt.includes(path) || path.endsWith(".gen.ts")) continue;
    if (sources.test(path)) problems.push(...checkHeads(path, text), ...checkNames(path, text));
    for (const [index, line] of text.split("\n").entries()) {
      for (const { pattern, instead, exempt: others = [] } of avoidedForms) {
        if (others.includes(path)) continue;
        const found = pattern.exec(line);
        if (found !== null) problems.push(`${path}:${index + 1}: "${found[0].trim()}": write ${instead}`);
      }
    }
  }
  return problems;
}

function checkHeads(path: string, text: string): string[] {
  return [...text.matchAll(forbiddenHead)].map(
    (match) =>
      `${path}:${lineOf(text, match)}: a comment begins with "${match[1] ?? match[2]}": write a noun, a verb ("Returns") or "True if"`,
  );
}

function checkNames(path: string, text: string): string[] {
  return [...text.matchAll(participle)].map(
    (match) => `${path}:${lineOf(text, match)}: the function "${match[1]}" is named by a participle: write a verb`,
  );
}

/** The number of the line in which a match ends. */
function lineOf(text: string, match: RegExpExecArray): number {
  return text.slice(0, match.index + match[0].length).split("\n").length;
}
