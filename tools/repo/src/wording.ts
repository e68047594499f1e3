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
  { pattern: /\bwhere (that|there|it) (is|are) none\b/i, instead: '"if there is none"' },
];

/** Files that must contain the forms: this table and its test. */
const exempt: readonly string[] = ["tools/repo/src/wording.ts", "tools/repo/src/wording.test.ts"];

/** The lines that contain an avoided form, with what to write instead. */
export function checkWording(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (exempt.includes(path) || path.endsWith(".gen.ts")) continue;
    for (const [index, line] of text.split("\n").entries()) {
      for (const { pattern, instead } of avoidedForms) {
        const found = pattern.exec(line);
        if (found !== null) problems.push(`${path}:${index + 1}: "${found[0].trim()}": write ${instead}`);
      }
    }
  }
  return problems;
}
