/** Labels of the user: a file, or a list that comes with nnhal. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readLabels } from "./labels.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-labels-"));
  writeFileSync(join(folder, "coco"), "a\nb\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["coco", 90, "person"],
  ["coco80", 80, "person"],
  ["pascal-voc", 21, "background"],
])("%s is a list of %i", async (name, count, first) => {
  const { names, source } = await readLabels(name, folder);
  expect([names.length, names[0], source]).toEqual([count, first, `the list ${name}`]);
});

it("a path is a file, also if it ends in the name of a list", async () => {
  expect(await readLabels("./coco", folder)).toEqual({ names: ["a", "b"], source: "./coco" });
});

it.each(["coco3", "constructor"])("%s is a file that does not exist", async (name) => {
  await expect(readLabels(name, folder)).rejects.toThrow(`cannot read the label file ${name}: the file does not exist`);
});
