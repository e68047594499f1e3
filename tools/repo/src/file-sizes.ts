/** Limits of the length of a source file: one for a second look, one for an error. */
import type { SourceFile } from "./workspace.ts";

const lookAgainAbove = 400;
const failAbove = 800;

/** Tables that are long because the facts are many. Reviewed by hand; generated files need no entry. */
const longTables: readonly string[] = [];

export interface SizeReport {
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

export function checkFileSizes(files: readonly SourceFile[], reviewed: readonly string[] = longTables): SizeReport {
  const warnings: string[] = [];
  const problems: string[] = [];
  const lengths = new Map(files.map(({ path, text }) => [path, lineCount(text)]));
  for (const [path, lines] of lengths) {
    if (path.endsWith(".gen.ts") || lines <= lookAgainAbove) continue;
    if (lines <= failAbove) warnings.push(`${path}: ${lines} lines, look again above ${lookAgainAbove}`);
    else if (!reviewed.includes(path))
      problems.push(`${path}: ${lines} lines, at most ${failAbove} outside reviewed tables`);
  }
  for (const path of reviewed) {
    const lines = lengths.get(path);
    if (lines === undefined) problems.push(`${path}: is in the list of long tables, but is not a file`);
    else if (lines <= failAbove) problems.push(`${path}: ${lines} lines, so it need not be in the list of long tables`);
  }
  return { warnings, problems };
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
