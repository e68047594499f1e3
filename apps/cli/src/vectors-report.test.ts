import type { Summary } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { formatReport, toJson } from "./vectors-report.ts";

const summary: Summary = {
  passed: 3,
  failed: 1,
  unsupported: 2,
  skipped: 1,
  total: 7,
  bySubject: new Map([
    ["SUB", { passed: 1, failed: 1, unsupported: 0, skipped: 1 }],
    ["ADD", { passed: 2, failed: 0, unsupported: 2, skipped: 0 }],
  ]),
  byType: new Map(),
  deviations: new Map(),
  failures: [{ name: "sub/sub_2", reason: "SUB output 0 element 3: expected 1, got 2" }],
  reasons: new Map([["ADD: no int32 here", 2]]),
};

describe("the report of vectors", () => {
  it("as JSON has the documented fields, operations in order", () => {
    expect(JSON.stringify(toJson("reference", undefined, summary))).toBe(
      JSON.stringify({
        device: "reference",
        passed: 3,
        failed: 1,
        unsupported: 2,
        skipped: 1,
        total: 7,
        byOperation: {
          ADD: { passed: 2, failed: 0, unsupported: 2 },
          SUB: { passed: 1, failed: 1, unsupported: 0 },
        },
        failures: [{ name: "sub/sub_2", reason: "SUB output 0 element 3: expected 1, got 2" }],
      }),
    );
  });

  it("as text has a row for each operation and the total, what failed, and why what was not run", () => {
    expect(formatReport("reference", summary)).toBe(
      [
        "operation       passed       failed  unsupported      skipped",
        "ADD                  2            0            2            0",
        "SUB                  1            1            0            1",
        "total                3            1            2            1",
        "",
        "Not run:",
        "      2  ADD: no int32 here",
        "",
        "FAILED sub/sub_2",
        "       SUB output 0 element 3: expected 1, got 2",
        "",
        "reference: 3 passed, 1 failed, 2 unsupported, 1 skipped of 7",
        "",
      ].join("\n"),
    );
  });

  it("as text is only the table and the sum if all is well", () => {
    const { bySubject: _, ...counts } = summary;
    const good: Summary = { ...counts, bySubject: new Map(), failures: [], reasons: new Map() };
    expect(formatReport("reference", good).split("\n")).toHaveLength(5);
  });
});
