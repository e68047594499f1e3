import { describe, expect, it } from "vitest";
import { type CaseResult, summarise } from "./result.ts";

async function* resultsOf(...results: readonly CaseResult[]) {
  yield* results;
}

describe("summarise", () => {
  it("counts by outcome, in total and by subject, and keeps the failures in order", async () => {
    const seen: string[] = [];
    const summary = await summarise(
      resultsOf(
        { name: "a", subject: "MUL", verdict: "passed" },
        { name: "b", subject: "ADD", verdict: "failed", reason: "first" },
        { name: "c", subject: "MUL", verdict: "unsupported", reason: "no MUL" },
        { name: "d", subject: "ADD", verdict: "skipped", reason: "not now" },
        { name: "e", subject: "ADD", verdict: "failed", reason: "second" },
        { name: "f", subject: "DIV", verdict: "unsupported", reason: "no MUL" },
      ),
      ({ name }) => seen.push(name),
    );
    expect(summary).toEqual({
      passed: 1,
      failed: 2,
      unsupported: 2,
      skipped: 1,
      total: 6,
      bySubject: new Map([
        ["MUL", { passed: 1, failed: 0, unsupported: 1, skipped: 0 }],
        ["ADD", { passed: 0, failed: 2, unsupported: 0, skipped: 1 }],
        ["DIV", { passed: 0, failed: 0, unsupported: 1, skipped: 0 }],
      ]),
      byType: new Map(),
      deviations: new Map(),
      failures: [
        { name: "b", reason: "first" },
        { name: "e", reason: "second" },
      ],
      reasons: new Map([
        ["no MUL", 2],
        ["not now", 1],
      ]),
    });
    expect(seen).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("counts examples by the type of their result too, with the greatest of their errors", async () => {
    const add = { subject: "ADD", type: "TENSOR_FLOAT32" } as const;
    const { byType } = await summarise(
      resultsOf(
        { ...add, name: "a", verdict: "passed", error: 0.25 },
        { ...add, name: "b", verdict: "passed", error: 0.5 },
        { ...add, name: "c", verdict: "passed" },
        { ...add, name: "d", type: "TENSOR_INT32", verdict: "unsupported", reason: "no" },
        { name: "e", subject: "facts", verdict: "passed" },
      ),
    );
    expect(byType).toEqual(
      new Map([
        [
          "ADD",
          new Map([
            ["TENSOR_FLOAT32", { passed: 3, failed: 0, unsupported: 0, skipped: 0, worst: 0.5 }],
            ["TENSOR_INT32", { passed: 0, failed: 0, unsupported: 1, skipped: 0, worst: undefined }],
          ]),
        ],
      ]),
    );
  });

  it("counts a result as often as it says", async () => {
    const summary = await summarise(
      resultsOf(
        { name: "a", subject: "ADD", verdict: "skipped", reason: "left out", count: 40 },
        { name: "b", subject: "ADD", verdict: "passed", count: 3 },
        { name: "c", subject: "ADD", verdict: "passed" },
      ),
    );
    expect(summary).toMatchObject({ passed: 4, skipped: 40, total: 44, reasons: new Map([["left out", 40]]) });
    expect(summary.bySubject.get("ADD")).toEqual({ passed: 4, failed: 0, unsupported: 0, skipped: 40 });
  });

  it("adds up the elements of graphs, if there are any", async () => {
    const graph = { subject: "sync", verdict: "passed" } as const;
    const elements = { judged: 5, total: 8 };
    const summary = await summarise(
      resultsOf({ ...graph, name: "a", elements }, { ...graph, name: "b" }, { ...graph, name: "c", elements }),
    );
    expect(summary.elements).toEqual({ judged: 10, total: 16 });
  });

  it("of nothing is all zero", async () => {
    const summary = await summarise(resultsOf());
    expect(summary).toMatchObject({ passed: 0, failed: 0, unsupported: 0, skipped: 0, total: 0, failures: [] });
  });

  it("adds up how far results are off, by subject and by the type of each output", async () => {
    const one = { elements: 2, differing: 1, largest: 1, sum: -1, error: 0.5 } as const;
    const { deviations } = await summarise(
      resultsOf(
        { name: "a", subject: "TOPK_V2", verdict: "passed", deviations: [{ ...one, type: "TENSOR_FLOAT32" }] },
        {
          name: "b",
          subject: "TOPK_V2",
          verdict: "failed",
          reason: "x",
          deviations: [
            { ...one, type: "TENSOR_FLOAT32" },
            { ...one, type: "TENSOR_INT32" },
          ],
        },
        { name: "c", subject: "ADD", verdict: "passed" },
      ),
    );
    expect(deviations).toEqual(
      new Map([
        [
          "TOPK_V2",
          new Map([
            ["TENSOR_FLOAT32", { ...one, type: "TENSOR_FLOAT32", elements: 4, differing: 2, sum: -2 }],
            ["TENSOR_INT32", { ...one, type: "TENSOR_INT32" }],
          ]),
        ],
      ]),
    );
  });
});
