/** The page of differences: its sections, what is kept of a page, and the page of the documentation. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Deviation, type Summary, summarise } from "@nnhal/conformance";
import { operations } from "@nnhal/operations";
import { operandTypes } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { differencesSection, pageHead, pageWith } from "./conformance-differences.ts";
import { knownEngines } from "./engines.ts";

const none = { elements: 1000, differing: 0, largest: 0, sum: 0, error: 0 };
const facts = { named: "mine", name: "nnhal-mine", version: "1.2 forms-0123abcd" };
const processor = { name: "Example (x64)", identity: "Example (x64) fpu avx2 sse4_1 avx512_vnni" };

async function summaryOf(deviations: Readonly<Record<string, readonly Deviation[]>>, failed = 0): Promise<Summary> {
  async function* results() {
    for (const [subject, own] of Object.entries(deviations)) {
      yield { name: subject, subject, verdict: "passed", deviations: own } as const;
    }
    for (let index = 0; index < failed; index++) {
      yield { name: `f${index}`, subject: "ADD", verdict: "failed", reason: "x" } as const;
    }
  }
  return summarise(results());
}

async function sectionOf(...given: Parameters<typeof summaryOf>): Promise<string> {
  return differencesSection(facts, await summaryOf(...given), { seed: 7, examples: 30 }, processor);
}

const rowsOf = (text: string) => text.split("\n").filter((line) => /^\| [A-Z]/.test(line));

describe("the section of a device", () => {
  it("says what was measured on what, and with which command", async () => {
    const section = await sectionOf({ ADD: [{ ...none, type: "TENSOR_FLOAT32" }] });
    expect(section).toContain("## mine\n");
    expect(section).toContain(
      "`nnhal conformance --device mine --suite arithmetic --seed 7 --examples 30 --differences FILE`",
    );
    expect(section).toContain(
      "Device `nnhal-mine`, version `1.2 forms-0123abcd`, on the processor Example (x64) with sse4_1, avx2, avx512_vnni. " +
        "1 examples ran, 1,000 elements were compared. In 1 of 1 operations and types no element differs.",
    );
    expect(rowsOf(section)).toEqual([]);
    expect(section).not.toContain("Beyond what is allowed");
  });

  it("has a row for each operation and type that differs, in the order of names", async () => {
    const section = await sectionOf({
      MUL: [{ ...none, type: "TENSOR_QUANT8_ASYMM", differing: 25, largest: 1, sum: -25, error: 1 }],
      CONV_2D: [
        { ...none, type: "TENSOR_FLOAT32", differing: 1, largest: 2.5, sum: 0.01, error: 0.5 },
        { ...none, type: "TENSOR_FLOAT16" },
      ],
      ARGMAX: [{ ...none, type: "TENSOR_INT32", elements: 0 }],
    });
    expect(section).toContain("In 1 of 3 operations and types no element differs; in the others:");
    expect(rowsOf(section)).toEqual([
      "| CONV_2D | TENSOR_FLOAT32 | 1,000 | 0.1 | 2.5 ULP | < 0.0001 | (n + 2) · 2^-24 · n · m, and 2^-23 of the result | 50 |",
      "| MUL | TENSOR_QUANT8_ASYMM | 1,000 | 2.5 | 1 | -0.025 | 1 step | 100 |",
    ]);
  });

  it("names examples that failed, 20 at most, and shows what has no bound", async () => {
    const wrong = { ...none, type: "TENSOR_INT32", differing: 1, largest: 1e9, sum: 0, error: 1e9 } as const;
    const section = await sectionOf({ ABS: [wrong] }, 2);
    expect(section).toContain("\n\nBeyond what is allowed, or without a result: `f0`, `f1`.\n\n");
    expect(await sectionOf({}, 21)).toContain("`f19`, and 1 more examples.");
    expect(rowsOf(section)).toEqual(["| ABS | TENSOR_INT32 | 1,000 | 0.1 | unbounded | 0 | 0 | unbounded |"]);
  });
});

describe("the page", () => {
  it("begins with what its columns mean, and gets a section for each device", () => {
    const one = pageWith(undefined, "one", "## one\n", "page.md");
    expect(one.startsWith(pageHead)).toBe(true);
    const both = pageWith(one, "two", "## two\n", "page.md");
    expect(both).toBe(`${one}\n<!-- differences of two -->\n\n## two\n\n<!-- end of two -->\n`);
  });

  it("keeps everything but the section of the device", () => {
    const page = "# Mine\n\n<!-- differences of one -->\n\nold\n\n<!-- end of one -->\n\n## More\n";
    const changed = pageWith(page, "one", "new\n", "page.md");
    expect(changed).toBe(page.replace("old", "new"));
    expect(pageWith(changed, "one", "new\n", "page.md")).toBe(changed);
  });

  it("is refused if one of the two marks is missing", () => {
    for (const page of [
      "<!-- differences of one -->\n",
      "<!-- end of one -->\n",
      "<!-- end of one --><!-- differences of one -->",
    ]) {
      expect(() => pageWith(page, "one", "", "page.md")).toThrow(/^page\.md: expected "<!-- differences of one -->"/);
    }
  });
});

describe("docs/measurements-differences.md", () => {
  const page = readFileSync(
    fileURLToPath(new URL("../../../docs/measurements-differences.md", import.meta.url)),
    "utf8",
  );

  it("has what the command writes, and a section for each engine but the reference", () => {
    expect(page.startsWith(pageHead)).toBe(true);
    const named = knownEngines.map(({ device }) => device.replace("nnhal-", "")).filter((name) => name !== "reference");
    expect([...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name).sort()).toEqual(named.sort());
    for (const name of named) expect(pageWith(page, name, "", "docs/measurements-differences.md")).not.toBe(page);
  });

  it("has rows of operations and types of the HAL, each with its allowance, and names each that is beyond it", () => {
    const rows = rowsOf(page).map((row) => row.slice(2, -2).split(" | "));
    expect(rows.length).toBeGreaterThan(30);
    const known = new Set<string>(operations.map(({ name }) => name));
    for (const [operation = "", type = "", elements, differing, , , allowed, used = ""] of rows) {
      expect(known).toContain(operation);
      expect(operandTypes).toHaveProperty(type);
      expect(Number(elements?.replaceAll(",", ""))).toBeGreaterThan(0);
      expect(differing).not.toBe("0");
      expect(allowed).not.toBe("");
      const isWithin = Number(used.replace("< ", "").replaceAll(",", "")) <= 100;
      if (!isWithin) expect(page).toContain(`arithmetic/${operation}/`);
    }
  });
});
