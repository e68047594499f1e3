import { describe, expect, it } from "vitest";
import { changesBetween, formatChanges, parseReport } from "./conformance-against.ts";
import { junitReport } from "./conformance-junit.ts";
import type { ConformanceJson, SuiteReport } from "./conformance-report.ts";

const counts = { failed: 0, unsupported: 0, skipped: 0, total: 3 };

function report(suites: Readonly<Record<string, { passed: number; failing?: readonly string[] }>>): ConformanceJson {
  return {
    device: "mine",
    passed: 0,
    ...counts,
    suites: Object.entries(suites).map(([suite, { passed, failing = [] }]) => ({
      ...counts,
      suite,
      hal: suite === "qos" ? "1.3" : null,
      by: "group",
      passed,
      subjects: {},
      reasons: {},
      failures: failing.map((name) => ({ name, reason: "because" })),
    })),
  };
}

describe("changesBetween", () => {
  const earlier = report({ device: { passed: 3 }, qos: { passed: 2, failing: ["a"] }, memory: { passed: 1 } });

  it("finds nothing in the same report", () => {
    expect(changesBetween(earlier, earlier)).toEqual([]);
    expect(formatChanges([], "old.json")).toBe("Against old.json:\n  nothing has changed\n\n");
  });

  it("names what fails now and what no longer does, other counts, and suites that came or went", () => {
    const later = report({ device: { passed: 2, failing: ["b"] }, qos: { passed: 3 }, burst: { passed: 1 } });
    expect(formatChanges(changesBetween(earlier, later), "old.json").split("\n")).toEqual([
      "Against old.json:",
      "  memory: it was not run",
      "- device: b fails now",
      "- device: 2 passed, before 3",
      "+ qos (HAL 1.3): a no longer fails",
      "+ qos (HAL 1.3): 3 passed, before 2",
      "  burst: it was not run before",
      "",
      "",
    ]);
  });
});

describe("a long list of changes", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);
  it.each([
    [20, undefined],
    [21, "device: 1 more fails now"],
    [335, "device: 315 more fail now"],
  ])("of %d cases that fail now names 20", (count, rest) => {
    const changes = changesBetween(
      report({ device: { passed: 3 } }),
      report({ device: { passed: 3, failing: many(count) } }),
    );
    expect(changes.slice(0, 20).map(({ says }) => says)).toEqual(many(20).map((name) => `device: ${name} fails now`));
    expect(changes.slice(20)).toEqual(rest === undefined ? [] : [{ kind: "worse", says: rest }]);
  });

  it("of cases that no longer fail names 20", () => {
    const changes = changesBetween(
      report({ device: { passed: 3, failing: many(22) } }),
      report({ device: { passed: 3 } }),
    );
    expect(changes.map(({ kind }) => kind)).toEqual(Array(21).fill("better"));
    expect(changes[20]?.says).toBe("device: 2 more no longer fail");
  });
});

describe("parseReport", () => {
  it("reads what --json printed, and refuses anything else", () => {
    const right = report({ device: { passed: 1, failing: ["a"] } });
    expect(parseReport(JSON.stringify(right), "old.json")).toEqual(right);
    expect(() => parseReport("{", "old.json")).toThrow("the report old.json is not JSON");
    for (const wrong of [
      "1",
      "null",
      "{}",
      '{"suites":1}',
      '{"suites":[1]}',
      '{"suites":[{"suite":"a","passed":1,"failures":[1]}]}',
    ]) {
      expect(() => parseReport(wrong, "old.json"), wrong).toThrow(
        "old.json is not a report of nnhal conformance --json",
      );
    }
  });
});

describe("junitReport", () => {
  const summary = {
    passed: 1,
    failed: 1,
    unsupported: 1,
    skipped: 0,
    total: 3,
    bySubject: new Map([
      ["ADD", { passed: 4, failed: 0, unsupported: 0, skipped: 0 }],
      ["SUB", { passed: 1, failed: 1, unsupported: 0, skipped: 0 }],
    ]),
    byType: new Map(),
    deviations: new Map(),
    failures: [{ name: "b <&>", reason: 'it says "no"\nand \u0001 more' }],
    reasons: new Map(),
  };
  const cases = [
    { name: "a", subject: "facts", verdict: "passed" },
    { name: "b <&>", subject: "facts", verdict: "failed", reason: 'it says "no"\nand \u0001 more' },
    { name: "c", subject: "facts", verdict: "unsupported", reason: "no bursts" },
  ] as const;

  it("has each case of a suite that lists them, as XML", () => {
    const suite: SuiteReport = { suite: "device", hal: "1.2", by: "group", summary, cases };
    expect(junitReport("mine", [suite])).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites name="conformance of mine">',
        '  <testsuite name="device (HAL 1.2)" tests="3" failures="1" errors="0" skipped="1">',
        '    <testcase classname="mine.device (HAL 1.2)" name="a"/>',
        '    <testcase classname="mine.device (HAL 1.2)" name="b &lt;&amp;&gt;"><failure message="it says &quot;no&quot;">it says &quot;no&quot;\nand \ufffd more</failure></testcase>',
        '    <testcase classname="mine.device (HAL 1.2)" name="c"><skipped message="unsupported: no bursts"/></testcase>',
        "  </testsuite>",
        "</testsuites>",
        "",
      ].join("\n"),
    );
  });

  it("has a case for each right subject and each failure of one that does not", () => {
    const text = junitReport("mine", [{ suite: "vectors", by: "operation", summary }]);
    expect(text).toContain('tests="2" failures="1" errors="0" skipped="0"');
    expect(text).toContain('name="ADD: 4 passed"/>');
    expect(text).not.toContain("SUB");
    expect(text).toContain('name="b &lt;&amp;&gt;"><failure');
  });
});
