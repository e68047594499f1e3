import { describe, expect, test } from "vitest";
import { checkCircles, findFolderKnots, findKnots } from "./circles.ts";
import { packageOf } from "./fixtures.ts";

/** A package whose files import others: `{ a: "b c" }`. */
function makeImporting(imports: Readonly<Record<string, string>>, folder = "packages/one") {
  const text = (targets: string) =>
    targets
      .split(" ")
      .filter((target) => target !== "")
      .map((target) => `import { x } from "./${target}.ts";\n`)
      .join("");
  const sources = Object.entries(imports).map(([name, targets]) => [`${name}.ts`, text(targets)]);
  return packageOf(folder, {}, Object.fromEntries(sources));
}

const at = (...names: string[]) => names.map((name) => `packages/one/src/${name}.ts`);
const circle = (...names: string[]) => at(...names, names[0] ?? "").join(" → ");

describe("circles among files", () => {
  test("arrows one way are fine", () => {
    expect(findKnots([makeImporting({ a: "b c", b: "c", c: "" })])).toEqual([]);
  });

  test("a file that imports itself is one", () => {
    expect(findKnots([makeImporting({ a: "a" })])).toEqual([{ files: at("a"), circles: [circle("a")] }]);
  });

  test("two files, and three", () => {
    expect(findKnots([makeImporting({ b: "a", a: "b" })])).toEqual([
      { files: at("a", "b"), circles: [circle("a", "b")] },
    ]);
    expect(findKnots([makeImporting({ a: "c", c: "b", b: "a", d: "a" })])).toEqual([
      { files: at("a", "b", "c"), circles: [circle("a", "c", "b")] },
    ]);
  });

  test.each([
    ["a type", 'import type { T } from "./b.ts";'],
    ["a re-export", 'export * from "./b.ts";'],
    ["a type that is exported again", 'export type { T } from "./b.ts";'],
    ["an import()", 'const b = await import("./b.ts");'],
    ["a worker that is named by its URL", 'new Worker(new URL("./b.ts", import.meta.url), { env });'],
    ["a type from an import()", 'export type T = import("./b.ts").T;'],
  ])("%s counts", (_, text) => {
    const one = packageOf("packages/one", {}, { "a.ts": `${text}\n`, "b.ts": 'import "./a.ts";\n' });
    expect(findKnots([one]).map(({ circles }) => circles)).toEqual([[circle("a", "b")]]);
  });

  test("what a package imports from itself by a name counts, on each platform", () => {
    const imports = {
      "#workers": {
        node: { "@nnhal/source": "./src/node.ts", default: "./dist/node.js" },
        default: { "@nnhal/source": "./src/other.ts", default: "./dist/other.js" },
      },
    };
    const sources = {
      "a.ts": 'import "#workers"; import "#unknown";\n',
      "node.ts": 'new URL("./a.ts", import.meta.url);\n',
      "other.ts": "",
    };
    const one = packageOf("packages/one", { imports }, sources);
    expect(findKnots([one]).map(({ circles }) => circles)).toEqual([[circle("a", "node")]]);
  });

  test("folders, packages and other modules are told apart", () => {
    const sources = {
      "a.ts": 'import "./deep/b.ts"; import "@nnhal/types"; import "./data.json";\n',
      "deep/b.ts": 'import "../a.ts";\n',
    };
    const one = packageOf("packages/one", {}, sources);
    expect(findKnots([one, makeImporting({ a: "b", b: "" }, "packages/two")])).toEqual([
      { files: at("a", "deep/b"), circles: [circle("a", "deep/b")] },
    ]);
  });

  test("circles with a file in common are one knot, shortest first", () => {
    expect(findKnots([makeImporting({ a: "b", b: "c", c: "a d", d: "c", e: "f", f: "e" })])).toEqual([
      { files: at("a", "b", "c", "d"), circles: [circle("c", "d"), circle("a", "b", "c")] },
      { files: at("e", "f"), circles: [circle("e", "f")] },
    ]);
  });
});

describe("the list of known circles is exact", () => {
  const packages = [makeImporting({ a: "b", b: "a", c: "" })];
  const gone = "these files are not a circle of imports, or not all of it";

  test("a circle that is not in it", () => {
    expect(checkCircles(packages, [])).toEqual([`files import each other in a circle: ${circle("a", "b")}`]);
    expect(checkCircles(packages, [at("b", "a")])).toEqual([]);
  });

  test("a circle that is gone", () => {
    expect(checkCircles(packages, [at("a", "b"), at("c", "d")])).toEqual([expect.stringContaining(gone)]);
  });

  test("a circle that has grown, or shrunk", () => {
    const grown = [makeImporting({ a: "b", b: "a c", c: "a" })];
    expect(checkCircles(grown, [at("a", "b")])).toEqual([
      expect.stringContaining(gone),
      `files import each other in a circle: ${circle("a", "b")}`,
      `files import each other in a circle: ${circle("a", "b", "c")}`,
    ]);
    expect(checkCircles(packages, [at("a", "b", "c")])).toHaveLength(2);
  });
});

describe("circles among folders", () => {
  const files = (imports: Readonly<Record<string, string>>) => packageOf("packages/one", {}, imports);
  const at = (...names: string[]) => names.map((name) => `packages/one/src/${name}`);

  test("floors are fine: each folder imports lower ones", () => {
    const one = files({
      "high/a.ts": 'import "../low/b.ts"; import "../c.ts"; import "./d.ts";\n',
      "high/d.ts": "",
      "low/b.ts": 'import "../c.ts";\n',
      "c.ts": "",
    });
    expect(findFolderKnots([one])).toEqual([]);
  });

  test("two folders by different files are one", () => {
    const one = files({
      "a/x.ts": 'import "../b/x.ts";\n',
      "a/y.ts": "",
      "b/x.ts": "",
      "b/y.ts": 'import "../a/y.ts";\n',
    });
    expect(findKnots([one])).toEqual([]);
    expect(findFolderKnots([one])).toEqual([{ files: at("a/", "b/"), circles: [at("a/", "b/", "a/").join(" → ")] }]);
    expect(checkCircles([one], [], [])).toEqual([
      `folders import each other in a circle: ${at("a/", "b/", "a/").join(" → ")}`,
    ]);
    expect(checkCircles([one], [], [at("a/", "b/")])).toEqual([]);
  });

  test("a folder and a file beside it, and what lies deeper in a folder, count", () => {
    const one = files({ "a/deep/x.ts": 'import "../../y.ts";\n', "y.ts": 'import "./a/z.ts";\n', "a/z.ts": "" });
    expect(findFolderKnots([one]).map((knot) => knot.files)).toEqual([at("a/", "y.ts")]);
  });

  test("tests may import from above, and files alone do not count", () => {
    const one = files({ "a/x.test.ts": 'import "../b/x.ts";\n', "b/x.ts": 'import "../a/y.ts";\n', "a/y.ts": "" });
    expect(findFolderKnots([one])).toEqual([]);
    expect(findFolderKnots([files({ "x.ts": 'import "./y.ts";\n', "y.ts": 'import "./x.ts";\n' })])).toEqual([]);
  });

  test("an entry that is not a circle of folders any more", () => {
    expect(checkCircles([files({ "a/x.ts": "" })], [], [at("a/", "b/")])).toEqual([
      `tools/repo/src/known-circles.ts: these folders are not a circle of imports, or not all of it: delete them from the list: ${at("a/", "b/").join(", ")}`,
    ]);
  });
});
