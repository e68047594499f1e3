import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { problemsIn, typePrograms } from "./type-check.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nnhal-types-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, config: unknown): string {
  mkdirSync(join(root, "packages", name), { recursive: true });
  writeFileSync(join(root, "packages", name, "tsconfig.json"), JSON.stringify(config));
  return `packages/${name}`;
}

test("packages with the same options are one program", () => {
  const base = "../../tsconfig.base.json";
  const strict = { noUncheckedIndexedAccess: true };
  const folders = [
    put("a", { extends: base, include: ["src", "*.ts"] }),
    put("b", { extends: base, compilerOptions: strict, include: ["src"] }),
    put("c", { extends: base, include: ["../../*.ts"] }),
    put("d", { extends: base, compilerOptions: strict, include: ["src"] }),
  ];
  const at = (...paths: string[]) => paths.map((path) => join(root, path));
  expect(typePrograms(root, folders)).toEqual([
    {
      base: join(root, "tsconfig.base.json"),
      compilerOptions: {},
      folders: ["packages/a", "packages/c"],
      include: at("packages/a/src", "packages/a/*.ts", "*.ts"),
    },
    {
      base: join(root, "tsconfig.base.json"),
      compilerOptions: strict,
      folders: ["packages/b", "packages/d"],
      include: at("packages/b/src", "packages/d/src"),
    },
  ]);
});

test.each([
  [{ include: ["src"] }],
  [{ extends: "../base.json" }],
  [{ extends: "../base.json", include: ["src"], exclude: ["src/x"] }],
])("a tsconfig.json of another form is refused: %j", (config) => {
  const folder = put("a", config);
  expect(() => typePrograms(root, [folder])).toThrow("packages/a/tsconfig.json: expected the fields");
});

test("a program's diagnostics count in its own folders and in the root, and everywhere if they name no file", () => {
  const output = [
    "packages/a/src/x.ts(1,2): error TS2532: Object is possibly 'undefined'.",
    "  a further line",
    "packages/ab/src/y.ts(3,4): error TS2322: Type 'string' is not assignable to type 'number'.",
    "  a further line of what does not count",
    "tsup.base.ts(5,6): error TS2345: Argument of type 'undefined' is not assignable to parameter of type 'string'.",
    "error TS5023: Unknown compiler option 'x'.",
    "",
  ].join("\n");
  expect(problemsIn(output, ["packages/a"])).toEqual([
    "packages/a/src/x.ts(1,2): error TS2532: Object is possibly 'undefined'.",
    "  a further line",
    "tsup.base.ts(5,6): error TS2345: Argument of type 'undefined' is not assignable to parameter of type 'string'.",
    "error TS5023: Unknown compiler option 'x'.",
  ]);
});
