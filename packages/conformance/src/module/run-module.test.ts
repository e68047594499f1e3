/**
 * A driver that misbehaves does not end the suite: its fault is named, and the other cases run on. Drivers that throw or give
 * nonsensical answers need no separate process: suites/contract/planted-faults.test.ts.
 */
import { fromSource } from "@nnhal/test-kit/from-source";
import { describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import { runModule } from "./run-module.ts";

async function run(fault: string, filter: string): Promise<CaseResult[]> {
  const module = new URL(`./misbehaving.test-module.ts?fault=${encodeURIComponent(fault)}`, import.meta.url);
  const results: CaseResult[] = [];
  const options = { filter, timeLimit: 4000, execArgv: fromSource };
  for await (const result of runModule(module, "prepared-model", options)) results.push(result);
  return results;
}

// Two cases: one executes, the other does not.
const filter = "leak";

describe("a driver that", { timeout: 120_000 }, () => {
  // They wait for processes that do nothing.
  it.concurrent.each([
    ["blocks", /the process did not react for \d+ ms/],
    ["never answers", /execute: no answer within 2000 ms/],
    ["ends the process", /the process ended with exit code 3/],
    ["leaks", /kept \d+ MiB of \d+ executions/],
  ])("%s is named, and the next case runs", async (fault, reason) => {
    const results = await run(fault, filter);
    expect(results.map(({ verdict }) => verdict)).toEqual(["failed", "passed"]);
    expect(results[0]?.reason).toMatch(reason);
  });

  it("is right passes", async () => {
    expect((await run("none", filter)).map(({ verdict, reason }) => reason ?? verdict)).toEqual(["passed", "passed"]);
  });

  it("cannot be opened fails the run, which says why", async () => {
    const gone = new URL("./gone.ts", import.meta.url);
    const first = runModule(gone, "device", { execArgv: fromSource }).next();
    await expect(first).rejects.toThrow(/gone\.ts/);
  });
});
