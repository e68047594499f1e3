import { describe, expect, it } from "vitest";
import { countsOf, endMarker, problemsOf, type Row, startMarker, summaryOf, withTable } from "./table.ts";

const order = ["Nehalem", "Haswell", "VNNI"];
const empty = `# Processors\n\n${startMarker}\n${endMarker}\n\nAfter.\n`;

const haswell: Row = {
  name: "Haswell",
  what: "Intel with AVX2",
  facts: { arch: "x64", name: "Intel Core Processor (Haswell)", features: ["AVX2"] },
  engines: [
    {
      engine: "ort",
      version: "1.0",
      choices: [
        { subject: "products", chosen: "u8", reason: "expected 250, got 126" },
        { subject: "sums", chosen: undefined },
      ],
      checks: {
        networks: { passed: 2, failed: 4, skipped: 0, problems: ["a.tflite: 3 of 4 elements are off"] },
        convolutions: { passed: 9, failed: 0, skipped: 1, problems: [] },
      },
    },
    { engine: "tfjs node", unavailable: "not installed", checks: {} },
  ],
};
const nehalem: Row = { name: "Nehalem", what: "Intel without AVX", impossible: "qemu-x86_64 is not installed" };

describe("the table", () => {
  it("has the processor, a line for each engine, and the forms that are not the first choice, between the markers", () => {
    const lines = withTable(empty, [haswell], order).split("\n");
    expect(lines).toEqual([
      "# Processors",
      "",
      startMarker,
      "",
      "### Processors",
      "",
      "| processor | what | found by its instructions |",
      "|---|---|---|",
      "| Haswell | Intel with AVX2 | Intel Core Processor (Haswell): AVX2 |",
      "",
      "### Results",
      "",
      "| processor | engine | networks | convolutions | vectors | tests | atomic operations |",
      "|---|---|---|---|---|---|---|",
      "| Haswell | ort | 2 right, **4 wrong** | 9 right, 1 not supported |  |  |  |",
      "| Haswell | tfjs node: not installed |  |  |  |  |  |",
      "",
      "### Forms that are not the first choice",
      "",
      "| processor | engine | for | chosen | reason |",
      "|---|---|---|---|---|",
      "| Haswell | ort | products | u8 | expected 250, got 126 |",
      "| Haswell | ort | sums | refused |  |",
      "",
      endMarker,
      "",
      "After.",
      "",
    ]);
  });

  it("says why a processor is impossible", () => {
    expect(withTable(empty, [nehalem], order)).toContain(
      "| Nehalem | Intel without AVX | impossible: qemu-x86_64 is not installed |",
    );
  });

  it("keeps the engines of a row that did not run, in the order of the plan", () => {
    const all = withTable(empty, [haswell], order);
    const checks = { networks: { passed: 6, failed: 0, skipped: 0, problems: [] } };
    const some = withTable(all, [{ ...haswell, engines: [{ engine: "tfjs wasm", version: "2", checks }] }], order);
    const results = some.split("\n").filter((line) => line.startsWith("| Haswell | ") && line.split(" | ").length > 5);
    expect(results).toEqual([
      "| Haswell | ort | 2 right, **4 wrong** | 9 right, 1 not supported |  |  |  |",
      "| Haswell | tfjs wasm | 6 right |  |  |  |  |",
      "| Haswell | tfjs node: not installed |  |  |  |  |  |",
    ]);
    expect(some).toContain("| Haswell | ort | products | u8 | expected 250, got 126 |");
    const repaired = { ...haswell, engines: [{ engine: "ort", version: "1.1", choices: [], checks }] } as const;
    const again = withTable(some, [repaired], order);
    expect(again).toContain("| Haswell | ort | 6 right |  |  |  |  |");
    expect(again).not.toContain("products");
    expect(again).toContain("| Haswell | tfjs wasm | 6 right |");
  });

  it("keeps the rows that did not run, in order, and writes the same again", () => {
    const both = withTable(withTable(empty, [haswell], order), [nehalem], order);
    expect(both).toBe(withTable(empty, [nehalem, haswell], order));
    expect(withTable(both, [], order)).toBe(both);
    expect(both.indexOf("| Nehalem |")).toBeLessThan(both.indexOf("| Haswell |"));
  });

  it("drops a row that no processor has any more", () => {
    expect(withTable(withTable(empty, [haswell], order), [], ["Nehalem"])).not.toContain("Haswell");
  });

  it("keeps its columns if a reason has a bar or a line break", () => {
    expect(withTable(empty, [{ ...nehalem, impossible: "a|b\nc" }], order)).toContain("impossible: a\\|b c |");
  });

  it.each([startMarker, endMarker])("is not written into a document without %s", (marker) => {
    expect(() => withTable(empty.replace(marker, ""), [haswell], order)).toThrow(
      `expected the document to have the line ${marker}`,
    );
  });
});

describe("a row", () => {
  it("is counted with all its checks", () => {
    const atomics = { passed: 1, failed: 1, skipped: 0, problems: ["lost"] };
    expect(countsOf({ ...haswell, atomics })).toEqual({ passed: 12, failed: 5, skipped: 1 });
    expect(problemsOf({ ...haswell, atomics })).toEqual(["ort, networks: a.tflite: 3 of 4 elements are off", "lost"]);
  });

  it("whose process failed has failed", () => {
    const row = { ...nehalem, impossible: undefined, problem: "ended with SIGSEGV" };
    const { impossible: _, ...broken } = row;
    expect(countsOf(broken)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(summaryOf(broken)).toBe("Nehalem: run: 0 passed, 1 failed, 0 skipped; ended with SIGSEGV");
  });

  it("is impossible with its reason, or shown by another one", () => {
    expect(summaryOf(nehalem)).toBe("Nehalem: impossible: qemu-x86_64 is not installed");
    expect(summaryOf({ name: "VNNI", what: "x86", covered: "the row host has VNNI" })).toBe(
      "VNNI: the row host has VNNI",
    );
    expect(countsOf(nehalem)).toEqual({ passed: 0, failed: 0, skipped: 0 });
  });
});
