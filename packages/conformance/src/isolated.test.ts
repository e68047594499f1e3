import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";
import { describe, expect, it } from "vitest";
import { type IsolationOptions, noLosses, runIsolated } from "./isolated.ts";

const child = fileURLToPath(new URL("./isolated.test-child.ts", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));

async function run(cases: readonly string[], more: Partial<IsolationOptions> = {}) {
  const children: ChildProcess[] = [];
  const results: (readonly [name: string, outcome: string])[] = [];
  const options: IsolationOptions = {
    start(skip, singly) {
      const started = fork(child, [skip, singly, more.batch ?? 1, ...cases].map(String), {
        execArgv: [...fromSource],
        cwd: here,
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      children.push(started);
      return started;
    },
    silence: 60_000,
    ...more,
  };
  for await (const { name, verdict, reason } of runIsolated(options)) results.push([name, reason ?? verdict]);
  return { children, results };
}

describe("runIsolated", () => {
  it("runs all cases in one process if they behave, and reports progress", async () => {
    const progress: unknown[] = [];
    const { children, results } = await run(["a", "b"], {
      onProgress: (done, detail) => progress.push([done, detail]),
    });
    expect(results).toEqual([
      ["a", "passed"],
      ["b", "passed"],
    ]);
    expect(children).toHaveLength(1);
    expect(progress).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  it("fails a case that ends its process, and goes on after it in another", async () => {
    const { children, results } = await run(["a", "exit", "crash", "b", "later", "c"]);
    expect(results).toEqual([
      ["a", "passed"],
      ["exit", "the process ended with exit code 3"],
      ["crash", "the process was ended by SIGKILL"],
      ["b", "passed"],
      ["later", "the process ended with exit code 5"],
      ["c", "passed"],
    ]);
    expect(children).toHaveLength(4);
  });

  it("runs no more cases after so many that were lost", async () => {
    const { children, results } = await run(["exit", "a", "exit", "b"], { mostLost: 2 });
    expect(results).toEqual([
      ["exit", "the process ended with exit code 3"],
      ["a", "passed"],
      [
        "exit",
        "the process ended with exit code 3\n2 cases were not answered, or ended their process: the cases that follow were not run",
      ],
    ]);
    expect(children).toHaveLength(2);
  });

  it("counts what earlier suites of the run have lost", async () => {
    const losses = { ...noLosses(), cases: 1 };
    const { results } = await run(["a", "exit", "b"], { mostLost: 2, losses });
    expect(results.map(([name]) => name)).toEqual(["a", "exit"]);
    expect(results[1]?.[1]).toMatch(/\n2 cases were not answered/);
    expect(losses).toEqual({ cases: 2, silences: 0 });
  });

  it("skips the others of a suite of which so many were lost, and goes on with the next suite", async () => {
    const cases = ["x/exit", "x/a", "x/late", "x/b", "x/exit", "y/a", "y/exit", "y/b"];
    const known = { cases: cases.map((name) => ({ name, subject: "TEST" })), mostLostOfSuite: 2 };
    const { children, results } = await run(cases, { known });
    const ended = "the process ended with exit code 3";
    const skipped = "2 cases of the suite x were not answered, or ended the process: its others were not run";
    expect(results).toEqual([
      ["x/exit", ended],
      ["x/a", "passed"],
      ["x/late", "no answer"],
      ["x/b", skipped],
      ["x/exit", skipped],
      ["y/a", "passed"],
      ["y/exit", ended],
      ["y/b", "passed"],
    ]);
    expect(children).toHaveLength(4);
  });

  it("ends if the suite of which so many were lost was the last", async () => {
    const cases = ["x/a", "y/exit", "y/b"];
    const known = { cases: cases.map((name) => ({ name, subject: "TEST" })), mostLostOfSuite: 1 };
    const { children, results } = await run(cases, { known });
    expect(results.map(([name]) => name)).toEqual(cases);
    expect(results[2]?.[1]).toMatch(/^1 case of the suite y was not answered/);
    expect(children).toHaveLength(1);
  });

  it("rejects if no case is to blame", async () => {
    await expect(run(["broken"])).rejects.toThrow("there is no device");
    await expect(run(["stillborn"])).rejects.toThrow(
      "the process that runs the cases ended with exit code 4 before its first case",
    );
  });

  it("tells results in batches, and finds the case that a process was lost in all the same", {
    timeout: 60_000,
  }, async () => {
    const { children, results } = await run(["a", "b", "c", "exit", "d", "later", "e"], { batch: 2 });
    expect(results).toEqual([
      ["a", "passed"],
      ["b", "passed"],
      ["c", "passed"],
      ["exit", "the process ended with exit code 3"],
      ["d", "passed"],
      ["later", "the process ended with exit code 5"],
      ["e", "passed"],
    ]);
    // For each case that is not survived: the process that is lost, and one that tells which case it was; then the last.
    expect(children).toHaveLength(4);
  });

  it("in batches, too, rejects if no case is to blame", async () => {
    await expect(run(["broken"], { batch: 4 })).rejects.toThrow("there is no device");
    await expect(run(["stillborn"], { batch: 4 })).rejects.toThrow("ended with exit code 4 before its first case");
  });

  it("of no cases is over at once", async () => {
    expect((await run([])).results).toEqual([]);
  });
});

// They wait for processes that do nothing.
describe.concurrent("a case that never lets its thread go", () => {
  it("fails, and its process is ended", async () => {
    const { children, results } = await run(["hang", "b"], { silence: 3000 });
    expect(results).toEqual([
      ["hang", "the process did not react for 3000 ms"],
      ["b", "passed"],
    ]);
    expect(children.map(({ killed }) => killed)).toEqual([true, true]);
  });

  it("has less time after others, which are counted over several suites", async () => {
    const losses = { ...noLosses(), silences: 2 };
    const { results } = await run(["hang", "a"], { silence: 8000, losses });
    expect(results).toEqual([
      ["hang", "the process did not react for 2000 ms"],
      ["a", "passed"],
    ]);
    expect(losses).toEqual({ cases: 1, silences: 3 });
  });

  it("fails in a batch too", async () => {
    const { results } = await run(["a", "hang", "b"], { batch: 4, silence: 3000 });
    expect(results).toEqual([
      ["a", "passed"],
      ["hang", "the process did not react for 3000 ms"],
      ["b", "passed"],
    ]);
  });
});
