import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { isReport, MOST_ROWS, type ReportView, readReport } from "./report.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const digits = "apps/cli/demo/digits-uint8.tflite";

/** The JSON that the command line prints. */
async function print(...args: readonly string[]): Promise<string> {
  const command = ["--import", "./tools/launcher/src/sources.mjs", "apps/cli/src/main.ts", ...args, "--json"];
  return (await promisify(execFile)(process.execPath, command, { cwd: root, maxBuffer: 2 ** 26 })).stdout;
}

const textOf = (cell: ReportView["tables"][number]["rows"][number][number] | undefined) =>
  typeof cell === "string" ? cell : cell?.text;

describe("a report of the command line", () => {
  it("explain: the steps of a plan, and its operations", async () => {
    const text = await print("explain", digits, "--device", "reference");
    expect(isReport(new TextEncoder().encode(text))).toBe(true);
    const { kind, facts, tables, verdict } = readReport(text);
    expect([kind, verdict]).toEqual(["explain", undefined]);
    expect(facts).toContainEqual(["devices", "nnhal-reference"]);
    expect(tables.map(({ title, rows }) => [title, rows.length])).toEqual([
      ["Steps", 1],
      ["Operations", 10],
    ]);
    expect(tables[0]?.rows[0]?.slice(0, 3)).toEqual(["1", "nnhal-reference", "10"]);
    expect(tables[1]?.rows[0]?.slice(0, 3)).toEqual(["1 CONV_2D", "nnhal-reference", "TENSOR_QUANT8_ASYMM 1×16×16×16"]);
  });

  it("diff: the error of each operation", async () => {
    const { kind, verdict, tables } = readReport(await print("diff", digits, "--device", "wasm"));
    expect(kind).toBe("diff");
    expect(verdict).toEqual({
      text: "All 10 operations that were compared are right; the outputs are equal.",
      isGood: true,
    });
    const [outputs, operations] = tables;
    expect(outputs?.rows).toEqual([["probabilities", "0 steps", "equal"]]);
    expect(operations?.rows[0]?.slice(0, 6)).toEqual(["1 CONV_2D", "edges", "nnhal-wasm", "right", "0 steps", "equal"]);
  });

  it("conformance: the counts of suites and subjects", async () => {
    const { kind, verdict, tables, facts } = readReport(
      await print("conformance", "--device", "reference", "--suite", "device", "--filter", "getCapabilities"),
    );
    expect(kind).toBe("conformance");
    expect(verdict).toEqual({ text: "Nothing has failed.", isGood: true });
    const passed = facts.find(([name]) => name === "passed")?.[1];
    expect(Number(passed)).toBeGreaterThan(2);
    // No suite names a version of the HAL.
    expect(tables[0]?.rows[0]?.slice(0, 2)).toEqual(["device", passed]);
  });

  it("conformance: failures", () => {
    const counts = { passed: 1, failed: 1, unsupported: 0, skipped: 1, total: 3 };
    const suite = { suite: "memory", hal: "1.3", by: "group", ...counts, subjects: { copying: counts } };
    const failures = [{ name: "copying/1", reason: "it is late" }];
    const { verdict, tables } = readReport(
      JSON.stringify({ device: "x", ...counts, suites: [{ ...suite, failures, reasons: { "no memory": 1 } }] }),
    );
    expect(verdict).toEqual({ text: "1 of 3 cases have failed.", isGood: false });
    expect(tables.map(({ title }) => title)).toEqual(["Suites", "Failures", "By subject", "Not run"]);
    expect(tables[0]?.rows[0]?.[3]).toEqual({ text: "1", tone: "failed" });
    expect(tables[1]?.rows).toEqual([["memory", "copying/1", "it is late"]]);
  });

  it("bench: the times of engines, with bars", () => {
    const agreement = { agrees: false, difference: 9, unit: "steps" };
    const contestant = (name: string, median: number) => ({ name, times: { median }, prepare: { cold: [3, 1, 2] } });
    const contestants = [{ ...contestant("wasm", 2), agreement }, contestant("ort", 4), { name: "x", problem: "none" }];
    const ratios = [{ name: "wasm", other: "ort", ratio: { median: 0.5, low: 0.4, high: 0.6 }, reason: null }];
    const model = { model: "a.tflite", bytes: 1000, multiplyAdds: 5, contestants, ratios };
    const { kind, tables } = readReport(JSON.stringify({ format: "nnhal-benchmark-1", machine: {}, models: [model] }));
    expect(kind).toBe("bench");
    expect(tables[0]?.rows.map((row) => [textOf(row[0]), row[1], textOf(row[4]), textOf(row[7])])).toEqual([
      ["wasm", { text: "2 ms", part: 0.5 }, "2 ms", ""],
      ["ort", { text: "4 ms", part: 1 }, "2 ms", ""],
      ["x", { text: "–", part: 0 }, "–", "none"],
    ]);
    expect(tables[0]?.rows[0]?.[6]).toEqual({ text: "9 steps", tone: "failed" });
    expect(tables[1]?.rows).toEqual([["wasm", "ort", "0.5", "0.4 to 0.6"]]);
  });

  it("explain: plans inside control flow, and why there is none", () => {
    const operation = { type: "IF", device: null, outputs: [], measuredMs: 1 };
    const inner = { part: "then", operations: [{ ...operation, type: "ADD" }], steps: [] };
    const plan = { operations: [operation], steps: [{ device: null, operations: [0], inside: [inner] }] };
    const { tables } = readReport(JSON.stringify(plan));
    expect(tables.map(({ title }) => title)).toEqual([
      "Steps",
      "Operations",
      "Steps, then of step 1",
      "Operations, then of step 1",
    ]);
    expect(tables[1]?.rows[0]?.slice(0, 4)).toEqual(["1 IF", "the runtime", " scalar", { text: "1 ms", part: 1 }]);
    const problem = { path: "operators[0]", message: "unknown", help: "none" };
    const blocked = { operations: [], steps: [], problem: "it cannot run", problems: [problem] };
    const { verdict, tables: more } = readReport(JSON.stringify(blocked));
    expect(verdict).toEqual({ text: "it cannot run", isGood: false });
    expect(more.at(-1)?.rows).toEqual([["operators[0]", "unknown", "none"]]);
  });

  it("shows the first rows of a long table, and says how many there are", () => {
    const operations = Array.from({ length: MOST_ROWS + 1 }, () => ({ operation: "ADD" }));
    const long = (count: number) =>
      readReport(JSON.stringify({ verdict: "", operations: operations.slice(0, count) })).tables[1];
    expect([long(MOST_ROWS)?.rows.length, long(MOST_ROWS)?.more]).toEqual([MOST_ROWS, 0]);
    expect([long(MOST_ROWS + 1)?.rows.length, long(MOST_ROWS + 1)?.more]).toEqual([MOST_ROWS, 1]);
  });

  it.each([
    ['{"a": 1', "its JSON is broken"],
    ['{"a": 1}', "expected the JSON of nnhal conformance, bench, explain or diff, got another"],
    ['{"suites": 5}', "got another"],
  ])("is refused if it is another text: %s", (text, message) => {
    expect(() => readReport(text)).toThrow(message);
  });

  it.each([
    '{"suites": [5, null, {"subjects": [1], "failures": "x", "reasons": null}]}',
    '{"format": "nnhal-benchmark-9", "models": [null, {"contestants": [{"prepare": {"cold": "x"}}], "ratios": {}}]}',
    '{"operations": [null], "steps": [7, {"inside": [{}]}]}',
    '{"verdict": "x", "operations": ["a", {"outputs": [{"alone": null}]}], "outputs": 7}',
  ])("with values of other types has dashes in place of them: %s", (text) => {
    expect(readReport(text).tables.length).toBeGreaterThan(0);
  });

  it("is told from other files by how it begins", () => {
    const isOne = (text: string) => isReport(new TextEncoder().encode(text));
    expect(['\n{ "device"', "{}", "TFL3", '["a"]'].map(isOne)).toEqual([true, false, false, false]);
  });
});
