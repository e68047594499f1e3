/**
 * Every definition and its kernel on random operands: shapes as inferred, no access outside a tensor, no error except a
 * refusal, no hang. The cases run in a separate process.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Operation } from "@nnhal/operations";
import { defineOperation, tensor } from "@nnhal/operations/authoring";
import { fromSource } from "@nnhal/test-kit/from-source";
import { describe, expect, it } from "vitest";
import { runIsolated } from "../isolated.ts";
import { type CaseResult, summarise } from "../result.ts";
import { kernelOperations } from "./examples.ts";
import { type RandomTally, runRandomOperations } from "./suite.ts";

const child = fileURLToPath(new URL("./suite.test-child.ts", import.meta.url));

/** Random cases for each operation. NNHAL_RANDOM_CASES asks for more. */
const count = process.env.NNHAL_RANDOM_CASES ?? "200";

it("no operation is at fault, and each computes most of what it is given", { timeout: 3_600_000 }, async () => {
  const tallies: string[] = [];
  const summary = await summarise(
    runIsolated({
      start: (skip) =>
        fork(child, [String(skip), count], {
          execArgv: [...fromSource],
          cwd: fileURLToPath(new URL(".", import.meta.url)),
          stdio: ["ignore", "inherit", "inherit", "ipc"],
        }),
      silence: 120_000,
      onProgress: (_, tally) => tallies.push(tally),
    }),
  );
  expect(summary.failures).toEqual([]);
  expect(summary.passed).toBe(kernelOperations().length);
  expect(tallies).toHaveLength(kernelOperations().length);
});

describe("the suite", () => {
  const make = (name: string, output: number): Operation =>
    defineOperation({
      name,
      code: 0,
      summary: "Made up.",
      params: [tensor("input")],
      outputs: [tensor("output")],
      types: [["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
      infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
      reference: ({ input }, outputs) => void outputs.output.data.set(input.data.subarray(output)),
    });

  async function run(operations: readonly Operation[], leastComputed?: number) {
    const results: CaseResult[] = [];
    const tallies: [string, RandomTally][] = [];
    const options = { operations, count: 50, onTally: (...tally: [string, RandomTally]) => void tallies.push(tally) };
    const more = leastComputed === undefined ? {} : { leastComputed };
    for await (const result of runRandomOperations({ ...options, ...more })) results.push(result);
    return { results, tallies };
  }

  it("fails an operation for its first fault, and goes on with the next", async () => {
    const { results, tallies } = await run([make("LEAKY", 1), make("SOUND", 0)]);
    expect(results).toMatchObject([
      { name: "random/LEAKY", verdict: "failed", reason: expect.stringMatching(/^random\/LEAKY\/\d+: element \d+ of/) },
      { name: "random/SOUND", verdict: "passed" },
    ]);
    expect(tallies.map(([name]) => name)).toEqual(["LEAKY", "SOUND"]);
    for (const [, tally] of tallies) expect(Object.values(tally).reduce((all, one) => all + one)).toBe(50);
  });

  it("fails an operation of which too few cases are computed", async () => {
    expect((await run([make("SOUND", 0)], 1)).results).toMatchObject([{ verdict: "passed" }]);
    expect((await run([make("SOUND", 0)], 1.01)).results).toMatchObject([
      { verdict: "failed", reason: "only 50 of 50 cases were computed" },
    ]);
  });

  it("leaves out those before the one it is to begin with", async () => {
    const names: string[] = [];
    const operations = [make("ONE", 0), make("TWO", 0)];
    for await (const { subject } of runRandomOperations({ operations, count: 1, skip: 1 })) names.push(subject);
    expect(names).toEqual(["TWO"]);
  });
});
