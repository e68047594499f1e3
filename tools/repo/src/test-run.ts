/** Runs the tests and counts them from vitest's own report. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { type CommandResult, runCommand } from "./process.ts";

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const noTests: TestCounts = { passed: 0, failed: 0, skipped: 0 };

/** Result of a run of the tests. */
interface TestRun extends CommandResult {
  readonly counts: TestCounts;
  /** The slowest files. */
  readonly notes?: readonly string[];
}

/** Runs all tests, or those that import something that has changed since a commit. */
export async function runTests(root: string, since?: string): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-tests-"));
  try {
    const report = join(folder, "report.json");
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const some = since === undefined ? [] : [`--changed=${since}`, "--passWithNoTests"];
    // Read by vitest.config.ts.
    const environment = since === undefined ? { NNHAL_TESTS: "all" } : {};
    const result = await runCommand(root, "vitest", [...args, ...some], root, environment);
    if (existsSync(report)) {
      const text = readFileSync(report, "utf8");
      return { ...result, counts: countTests(text), notes: slowestFiles(text, root) };
    }
    // A run in which nothing was to do leaves none.
    if (result.ok && since !== undefined) return { ...result, counts: noTests };
    return { ok: false, output: `${result.output}\nvitest left no report`, counts: noTests };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Number of slowest files that are shown. */
const shownFiles = 10;

/** The slowest files of a report in vitest's JSON format, with their seconds; files that run at the same time share a processor. */
export function slowestFiles(report: string, root: string): string[] {
  const { testResults }: { testResults: readonly { name: string; startTime: number; endTime: number }[] } =
    JSON.parse(report);
  return testResults
    .map(({ name, startTime, endTime }) => ({
      path: relative(root, name).split(sep).join("/"),
      time: endTime - startTime,
    }))
    .sort((a, b) => b.time - a.time)
    .slice(0, shownFiles)
    .map(({ path, time }) => `${(time / 1000).toFixed(1).padStart(6)} s  ${path}`);
}

/** Reads the counts of a report in vitest's JSON format. */
export function countTests(report: string): TestCounts {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(report);
  return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
}
