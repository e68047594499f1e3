import { type CaseResult, summarise } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { formatReport, unproven } from "./conformance-report.ts";

/** The lines on failed cases, of a suite in which cases failed for these reasons. */
async function failures(reasons: readonly string[]): Promise<string[]> {
  const results = reasons.map(
    (reason, index): CaseResult => ({ name: `c${index}`, subject: "g", verdict: "failed", reason }),
  );
  const summary = await summarise(
    (async function* () {
      yield* results;
    })(),
  );
  const lines = formatReport("mine", [{ suite: "device", by: "group", summary }]).split("\n");
  return lines.slice(4, -3);
}

describe("the failed cases in the text of a report", () => {
  it("each have a reason", async () => {
    expect(await failures(["wrong", "late"])).toEqual(["FAILED c0", "       wrong", "FAILED c1", "       late"]);
  });

  it.each([
    [10, []],
    [11, ["FAILED 1 more for the same reason"]],
    [300, ["FAILED 290 more for the same reason"]],
  ])("that are %d for one reason share it, and ten are named", async (count, rest) => {
    const named = Array.from({ length: 10 }, (_, index) => `FAILED c${index}`);
    expect(await failures(Array(count).fill("wrong"))).toEqual([...named, ...rest, "       wrong"]);
  });

  it.each([
    [50, []],
    [51, ["FAILED 1 more for other reasons: --json and --html name all"]],
  ])("have at most 50 reasons, of %d", async (count, rest) => {
    const lines = await failures(Array.from({ length: count }, (_, index) => `reason ${index}`));
    expect(lines.slice(0, 100)).toEqual(
      Array.from({ length: 50 }, (_, index) => [`FAILED c${index}`, `       reason ${index}`]).flat(),
    );
    expect(lines.slice(100)).toEqual(rest);
  });
});

describe("a suite of examples", () => {
  const counts = { passed: 0, failed: 0, unsupported: 99, skipped: 0 };

  it("proves little if the device has run less than one in a hundred", () => {
    expect(unproven("operation", counts)).toBe(
      "Little was proven: the device ran 0 of 99 examples, and supported no others.",
    );
    expect(unproven("operation", { ...counts, passed: 1, unsupported: 100 })).toContain("ran 1 of 101 examples");
  });

  it.each([
    ["operation", { passed: 1 }],
    ["operation", { failed: 1 }],
    ["operation", { unsupported: 0 }],
    ["group", {}],
  ])("by %s with %j proves something, or had nothing to prove", (by, changed) => {
    expect(unproven(by, { ...counts, ...changed })).toBeUndefined();
  });
});
