import { expect, test } from "vitest";
import { checkFileSizes } from "./file-sizes.ts";

const lines = (path: string, count: number) => ({ path, text: "x\n".repeat(count) });

test("both sides of each bound", () => {
  expect(checkFileSizes([lines("a.ts", 400)], [])).toEqual({ warnings: [], problems: [] });
  expect(checkFileSizes([lines("a.ts", 401)], []).warnings).toEqual(["a.ts: 401 lines, look again above 400"]);
  expect(checkFileSizes([lines("a.ts", 800)], [])).toMatchObject({ warnings: [expect.any(String)], problems: [] });
  expect(checkFileSizes([lines("a.ts", 801)], [])).toEqual({
    warnings: [],
    problems: ["a.ts: 801 lines, at most 800 outside reviewed tables"],
  });
});

test("a last line without a line break counts", () => {
  expect(checkFileSizes([{ path: "a.ts", text: `${"x\n".repeat(800)}x` }], []).problems).toHaveLength(1);
});

test("generated files and reviewed tables may be long", () => {
  expect(checkFileSizes([lines("a.gen.ts", 5000)], []).problems).toEqual([]);
  expect(checkFileSizes([lines("a.ts", 5000)], ["a.ts"]).problems).toEqual([]);
});

test("a reviewed table that is gone or short leaves the list", () => {
  expect(checkFileSizes([], ["a.ts"]).problems).toHaveLength(1);
  expect(checkFileSizes([lines("a.ts", 800)], ["a.ts"]).problems).toHaveLength(1);
});
