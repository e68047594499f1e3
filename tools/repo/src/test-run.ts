/** Runs the tests and counts them from vitest's own report. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, runCommand } from "./process.ts";

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const noTests: TestCounts = { passed: 0, failed: 0, skipped: 0 };

export async function runTests(root: string): Promise<CommandResult & { readonly counts: TestCounts }> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-tests-"));
  try {
    const report = join(folder, "report.json");
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const result = await runCommand(root, "vitest", args);
    if (existsSync(report)) return { ...result, counts: countTests(readFileSync(report, "utf8")) };
    return { ok: false, output: `${result.output}\nvitest left no report`, counts: noTests };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the counts of a report in vitest's JSON format. */
export function countTests(report: string): TestCounts {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(report);
  return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
}
