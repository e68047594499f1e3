/** Documents that people read: how they begin, and how long they are. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { workspaceRoot } from "./workspace.ts";

const folder = join(workspaceRoot, "docs");

/** Lists that are written from sources, to look things up in. */
const lists = ["operations.md", "measurements-planted-faults.md"];

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

/** The READMEs of packages, programs and examples, which are read with the documents. */
function readmes(): readonly string[] {
  const folders = ["packages", "apps"].flatMap((group) =>
    readdirSync(join(workspaceRoot, group)).map((name) => join(group, name)),
  );
  return ["README.md", "CONTRIBUTING.md", ...[...folders, "examples"].map((each) => join(each, "README.md"))];
}

it("documents have at most 70,000 words, without lists, figures, and what is written from sources", () => {
  const own = readdirSync(folder).filter(
    (name) => name.endsWith(".md") && !/^(operations|measurements.*)\.md$/.test(name),
  );
  const files = [...own.map((name) => join("docs", name)), ...readmes()];
  const texts = files.map((file) => readFileSync(join(workspaceRoot, file), "utf8"));
  const read = texts.map((text) => text.replace(/<!-- operators: [\s\S]*?<!-- end of operators -->/, ""));
  const total = read.reduce((sum, text) => sum + wordsIn(text), 0);
  expect(total).toBeLessThanOrEqual(70_000);
  expect(total).toBeGreaterThan(50_000);
});

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
