/** Runs bundled test files with vitest's runner, in this process. */
import { type File, startTests, type Task, type VitestRunner } from "@vitest/runner";
import type { Tally } from "../result.ts";

/** Runs test files, one after the other. `files`: the URLs of their bundles. */
export async function runTestFiles(files: readonly string[], filter?: RegExp): Promise<Tally> {
  const runner: VitestRunner = {
    config: {
      root: "/",
      setupFiles: [],
      name: undefined,
      passWithNoTests: false,
      testNamePattern: filter,
      allowOnly: false,
      sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
      chaiConfig: undefined,
      maxConcurrency: 1,
      testTimeout: Number.POSITIVE_INFINITY,
      hookTimeout: Number.POSITIVE_INFINITY,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      tagsFilter: undefined,
      strictTags: false,
    },
    importFile: (path) => import(path),
  };
  return tallyOf(await startTests([...files], runner));
}

/** Counts the tests of files. A file that could not be read counts as one that failed. */
function tallyOf(files: readonly File[]): Tally {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const problems: string[] = [];
  const visit = (task: Task, path: string) => {
    const name = path === "" ? task.name : `${path} > ${task.name}`;
    const [error] = task.result?.errors ?? [];
    if (task.type === "suite") {
      if (error !== undefined) problems.push(`${name}: ${error.message}`);
      if (error !== undefined && task.tasks.every(({ result }) => result?.state !== "fail")) counts.failed++;
      for (const each of task.tasks) visit(each, name);
    } else if (task.result?.state === "pass") counts.passed++;
    else if (task.result?.state === "fail") {
      counts.failed++;
      problems.push(`${name}: ${error?.message}`);
    } else counts.skipped++;
  };
  for (const file of files) visit(file, "");
  return { ...counts, problems };
}
