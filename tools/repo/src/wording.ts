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

/** Folders whose comments do not begin with "What", "How" or "Whether". A folder is added once its comments are rewritten. */
export const plainHeads: readonly string[] = [
  // One folder on each line, sorted.
  "apps/cli",
  "apps/sample-driver",
  "apps/server",
  "apps/studio",
  "apps/worker",
  "packages/backend",
  "packages/backend-gpujs",
  "packages/backend-ort",
  "packages/backend-reference",
  "packages/backend-tfjs",
  "packages/backend-wasm",
  "packages/batch",
  "packages/conformance",
  "packages/create-nnhal",
  "packages/diff",
  "packages/driver-core",
  "packages/extension-fibonacci",
  "packages/extension-mediapipe",
  "packages/extension-tflite",
  "packages/network",
  "packages/nnhal",
  "packages/operations",
  "packages/program",
  "packages/runtime",
  "packages/service",
  "packages/test-kit",
  "packages/tflite",
  "packages/transport",
  "packages/types",
  "packages/utils",
  "packages/validation",
  "tools",
];

/** The first word of a block comment, or of the first of several line comments. */
const forbiddenHead =
  /\/\*\*\s*(?:\*\s+)?(What|How|Whether)\b|(?<!^[ \t]*\/\/.*\r?\n)^[ \t]*\/\/\s*(What|How|Whether)\b/gm;

/** Files that must contain the forms: this table and its test. */
const exempt: readonly string[] = ["tools/repo/src/wording.ts", "tools/repo/src/wording.test.ts"];

/** Returns the lines that contain an avoided form or begin a comment with a forbidden word, with what to write instead. */
export function checkWording(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (exempt.includes(path) || path.endsWith(".gen.ts")) continue;
    if (plainHeads.some((folder) => path.startsWith(`${folder}/`))) problems.push(...checkHeads(path, text));
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
  return [...text.matchAll(forbiddenHead)].map((match) => {
    const line = text.slice(0, match.index + match[0].length).split("\n").length;
    return `${path}:${line}: a comment begins with "${match[1] ?? match[2]}": write a noun, a verb ("Returns") or "True if"`;
  });
}
