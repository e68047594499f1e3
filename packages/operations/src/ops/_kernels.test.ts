import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes(".test"));

it("finds the files of operations", () => {
  expect(files).toContain("conv-2d.ts");
  expect(files).toContain("_convolution.ts");
});

it.each(files)("%s neither pauses nor waits nor looks at a clock", (name) => {
  const source = readFileSync(new URL(name, folder), "utf8");
  expect(source.match(/\byield\b|\basync\b|\bawait\b|\bfunction\*|\bperformance\b|\bDate\b/)).toBeNull();
});
