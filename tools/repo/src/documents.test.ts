/** The beginnings of long documents. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { workspaceRoot } from "./workspace.ts";

const folder = join(workspaceRoot, "docs");

/** Lists that are written from sources, to look things up in. */
const lists = ["operations.md", "measurements-planted-faults.md"];

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

it("a document of more than 1500 words begins with what most readers need, in at most 80 words", () => {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md") && !lists.includes(name));
  const long = names.filter((name) => wordsIn(readFileSync(join(folder, name), "utf8")) > 1500);
  expect(long.length).toBeGreaterThan(15);
  const boxes = long.map((name) => {
    const [, box = ""] = /^# .*\n\n((?:> .*\n)+)\n/.exec(readFileSync(join(folder, name), "utf8")) ?? [];
    return { name, box };
  });
  const isShort = ({ box }: { readonly box: string }) => box.startsWith("> **In short**: ") && wordsIn(box) <= 80;
  expect(boxes.filter((each) => !isShort(each))).toEqual([]);
});
