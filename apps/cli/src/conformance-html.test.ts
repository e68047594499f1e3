import { type CaseResult, summarise } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { changesBetween } from "./conformance-against.ts";
import { badgeFile, badgeOf } from "./conformance-badge.ts";
import { htmlReport } from "./conformance-html.ts";
import { type DeviceFacts, type SuiteReport, toJson } from "./conformance-report.ts";

const info = { execTime: 0.25, powerUsage: 3.4028234663852886e38 };

const facts: DeviceFacts = {
  named: "mine",
  name: "nnhal-mine",
  type: "GPU",
  version: "mine <1>",
  halVersion: "1.3",
  capabilities: {
    relaxedFloat32toFloat16PerformanceScalar: info,
    relaxedFloat32toFloat16PerformanceTensor: info,
    operandPerformance: [{ type: 3, info }],
    ifPerformance: info,
    whilePerformance: info,
  },
};

async function reportOf(
  suite: string,
  cases: readonly CaseResult[],
  more: Partial<SuiteReport> = {},
): Promise<SuiteReport> {
  async function* results() {
    yield* cases;
  }
  return { suite, by: "group", cases, summary: await summarise(results()), ...more };
}

const passed: CaseResult = { name: "facts: it is there", subject: "facts", verdict: "passed" };
const failed: CaseResult = {
  name: "facts: it works",
  subject: "facts",
  verdict: "failed",
  reason: "expected <b>, got &",
};
const unsupported: CaseResult = {
  name: "copy: a buffer",
  subject: "copy",
  verdict: "unsupported",
  reason: "of HAL 1.3",
};

const day = new Date("2026-11-20T12:00:00Z");

describe("the HTML report", () => {
  it("says what the device is and how it did", async () => {
    const html = htmlReport(facts, [await reportOf("device", [passed, failed, unsupported])], day);
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">.*<\/html>\n$/s);
    expect(html).toContain("<title>Conformance of nnhal-mine</title>");
    expect(html).toContain("1 of 3 cases failed");
    for (const fact of ["mine &lt;1&gt;", "GPU", "2026-11-20", "TENSOR_FLOAT32", "0.25", "∞"])
      expect(html).toContain(fact);
  });

  it("needs nothing else: no address, no script, no file", async () => {
    const html = htmlReport(facts, [await reportOf("device", [passed])], day);
    expect(html).not.toMatch(/https?:|<script|<link|src=|@import|url\(/);
    expect(html).toMatch(/prefers-color-scheme: dark/);
    expect(html).toMatch(/<meta name="viewport"/);
  });

  it("shows each case with its message, escaped; failed ones first, and their groups open", async () => {
    const html = htmlReport(facts, [await reportOf("device", [passed, failed, unsupported])], day);
    expect(html).toContain("expected &lt;b&gt;, got &amp;");
    expect(html).not.toContain("<b>, actual");
    expect(html).toMatch(/<details open><summary><span class="name">facts</);
    expect(html).toMatch(/<details><summary><span class="name">copy</);
    expect(html.lastIndexOf("it works")).toBeLessThan(html.lastIndexOf("it is there"));
  });

  it("leads from each failure to its case, in every suite and version", async () => {
    const html = htmlReport(
      facts,
      [
        await reportOf("device", [failed, { ...failed, name: "facts: again" }]),
        await reportOf("device", [passed, failed], { hal: "1.0" }),
        await reportOf("mutations", [failed], { by: "mutation" }),
      ],
      day,
    );
    const links = [...html.matchAll(/href="#([^"]*)"/g)].map(([, link]) => link);
    const places = [...html.matchAll(/ id="([^"]*)"/g)].map(([, place]) => place);
    expect(new Set(places).size).toBe(places.length);
    expect(links.filter((link) => !places.includes(link))).toEqual([]);
    expect(links).toHaveLength(3 + 4);
  });

  it("counts suites of very many cases by subject, and says why cases did not run", async () => {
    const { cases: _, ...report } = await reportOf("vectors", [passed, failed, unsupported], {
      by: "operation",
      note: "A note.",
    });
    const html = htmlReport(facts, [report], day);
    for (const text of ["By operation", "Not run, and why", "of HAL 1.3", "A note.", "expected &lt;b&gt;"])
      expect(html).toContain(text);
  });

  it("shows how exact examples are by operation and type, and what has changed since an earlier run", async () => {
    const example = {
      name: "arithmetic/ADD/1",
      subject: "ADD",
      type: "TENSOR_FLOAT32",
      verdict: "passed",
      error: 0.25,
    } as const;
    const wrong = {
      ...example,
      name: "arithmetic/MUL/1",
      subject: "MUL",
      verdict: "failed",
      error: 12,
      reason: "off",
    } as const;
    const int32 = {
      ...example,
      name: "arithmetic/ADD/2",
      type: "TENSOR_INT32",
      verdict: "unsupported",
      reason: "no",
    } as const;
    const report = async (...cases: CaseResult[]) => {
      const { cases: _, ...rest } = await reportOf("arithmetic", cases, { by: "operation" });
      return rest;
    };
    const now = await report(example, wrong, int32);
    const alone = htmlReport(facts, [now], day);
    expect(alone).toMatch(/ADD<\/th><td title="1 tried, 0 failed; greatest error 25 % of what is allowed">/);
    expect(alone).toMatch(/<rect class="passed" width="20.0"/);
    expect(alone).toContain("1 · 1 ✗ ×12");
    expect(alone).toContain("1 examples, none supported");
    expect(alone).not.toMatch(/Against|▲ worse/);

    const before = await report({ ...example, error: 0.5 }, { ...wrong, verdict: "passed", error: 0.5 });
    const earlier = toJson("mine", [before]);
    const changes = changesBetween(earlier, toJson("mine", [now]));
    const beside = htmlReport(facts, [now], day, { path: "old.json", report: earlier, changes });
    expect(beside).toContain("Against old.json");
    expect(beside).toMatch(/worse<\/span> arithmetic: arithmetic\/MUL\/1 fails now/);
    expect(beside).toMatch(/25 % of what is allowed; before 50 %/);
    expect(beside).toMatch(/<b class="change better">▼<\/b>.*<b class="change worse">▲<\/b>/);
    const same = htmlReport(facts, [now], day, { path: "old.json", report: toJson("mine", [now]), changes: [] });
    expect(same).toContain("Nothing has changed.");
    expect(same).not.toContain('class="before"');
  });

  it("has the result in one line, as a picture", () => {
    const counts = { passed: 1234, failed: 0, unsupported: 1, skipped: 0 };
    expect(badgeOf("1.3", counts)).toMatch(/aria-label="NN HAL 1.3: 1,234 passed".*#1a7f4b/);
    expect(badgeOf("1.2", { ...counts, failed: 2 })).toMatch(/NN HAL 1.2: 2 failed, 1,234 passed.*#c8322b/);
    expect(badgeOf("1.2", { ...counts, passed: 0 })).not.toMatch(/#1a7f4b|#c8322b/);
    expect(badgeFile("1.3", counts)).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+".*<\/svg>\n$/);
  });

  it("does not call it a success if nothing was proven", async () => {
    const verdict = async (...cases: CaseResult[]) =>
      /class="verdict [a-z]+">([^<]*)</.exec(htmlReport(facts, [await reportOf("device", cases)], day))?.[1];
    expect(await verdict(passed)).toBe("No case failed");
    expect(await verdict(unsupported)).toBe("Nothing was proven");
    expect(await verdict(failed)).toBe("1 of 1 cases failed");
  });
});
