/** Kernels are plain functions over ranges: their text neither pauses nor waits nor looks at a clock. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts") && !name.includes(".test"));

function pausesIn(name: string): RegExpMatchArray | null {
  const source = readFileSync(new URL(name, folder), "utf8");
  return source.match(/\byield\b|\basync\b|\bawait\b|\bfunction\*|\bperformance\b|\bDate\b/);
}

it("finds the files of operations", () => {
  expect(files).toContain("ops/conv-2d.ts");
  expect(files).toContain("_layers.ts");
});

it.each(files)("%s neither pauses nor waits nor looks at a clock", (name) => {
  expect(pausesIn(name)).toBeNull();
});
