import { type CaseResult, summarise } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { htmlReport } from "./conformance-html.ts";
import type { DeviceFacts, SuiteReport } from "./conformance-report.ts";

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
  reason: "expected <b>, actual &",
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
    expect(html).toContain("expected &lt;b&gt;, actual &amp;");
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

  it("does not call it a success if nothing was proven", async () => {
    const verdict = async (...cases: CaseResult[]) =>
      /class="verdict [a-z]+">([^<]*)</.exec(htmlReport(facts, [await reportOf("device", cases)], day))?.[1];
    expect(await verdict(passed)).toBe("No case failed");
    expect(await verdict(unsupported)).toBe("Nothing was proven");
    expect(await verdict(failed)).toBe("1 of 1 cases failed");
  });
});
