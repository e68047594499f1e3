import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { camelCase, generateAll, generateRegistry, staleFiles, writeGenerated } from "./generate.ts";

const operation = (file: string, text: string) => ({ path: `packages/operations/src/ops/${file}`, text });
const abs = operation("abs.ts", "export const abs = defineOperation({});\n");
const conv = operation("conv-2d.ts", "export type Window = number;\nexport const conv2d = defineOperation({});\n");
const tfliteAbs = operation(
  "abs.tflite.ts",
  [
    'import { ensure } from "../fail.ts";',
    'import type { Tensor } from "../tensor.ts";',
    'import { tfliteTypes } from "../tflite-types.ts";',
    'import { wider } from "./_wider.tflite.ts";',
    'import { abs as base } from "./abs.ts";',
    "export const abs = wider(base, {});\n",
  ].join("\n"),
);
const tflitePairs = operation("pairs.tflite.ts", "export const pairs = [\n  pair({}),\n] as const;\n");

test.each([
  ["abs", "abs"],
  ["conv-2d", "conv2d"],
  ["depth-to-space", "depthToSpace"],
  ["l2-pool-2d", "l2Pool2d"],
])("%s becomes %s", (kebab, camel) => {
  expect(camelCase(kebab)).toBe(camel);
});

describe("the registry", () => {
  test("imports each operation and lists them by name, and maps names to types", () => {
    const { files, problems } = generateRegistry([conv, tflitePairs, abs, tfliteAbs]);
    expect(problems).toEqual([]);
    expect(files).toEqual([
      {
        path: "packages/operations/src/registry.gen.ts",
        text: [
          "// Generated from the files in ops/ by `npm run generate`; do not edit.",
          'import type { Operation } from "./define.ts";',
          'import { abs } from "./ops/abs.ts";',
          'import { conv2d } from "./ops/conv-2d.ts";',
          "",
          "/** Every operation, in the order of the names. */",
          "export const operations: readonly Operation[] = [",
          "  abs,",
          "  conv2d,",
          "];",
          "",
        ].join("\n"),
      },
      {
        path: "packages/operations/src/operation-types.gen.ts",
        text: [
          "// Generated from the files in ops/ by `npm run generate`; do not edit.",
          'import type { abs } from "./ops/abs.ts";',
          'import type { conv2d } from "./ops/conv-2d.ts";',
          "",
          "/** The type of each operation's definition, by the HAL's name of the operation. */",
          "export interface OperationTypes {",
          "  readonly ABS: typeof abs;",
          "  readonly CONV_2D: typeof conv2d;",
          "}",
          "",
        ].join("\n"),
      },
      {
        path: "packages/operations/src/families.gen.ts",
        text: [
          "// Generated from the files in ops/ by `npm run generate`; do not edit.",
          'import type { OperationTypeName } from "@nnhal/types";',
          'import type { Operation } from "./define.ts";',
          "",
          "/** Operations that a bundle for a browser loads together. */",
          "export interface Family {",
          "  /** Absent: all operations of the HAL that no other family has. */",
          "  readonly names?: readonly OperationTypeName[];",
          "  load(): Promise<readonly Operation[]>;",
          "}",
          "",
          "/** Every operation, in families. */",
          "export const families: readonly Family[] = [",
          "  {",
          '    names: ["CONV_2D"],',
          '    load: async () => Object.values(await import("./family-common.gen.ts")),',
          "  },",
          "  {",
          '    load: async () => Object.values(await import("./family-other.gen.ts")),',
          "  },",
          "];",
          "",
        ].join("\n"),
      },
      ...[
        ["common", 'export { conv2d } from "./ops/conv-2d.ts";'],
        ["other", 'export { abs } from "./ops/abs.ts";'],
      ].map(([family, line]) => ({
        path: `packages/operations/src/family-${family}.gen.ts`,
        text: `// Generated from the files in ops/ by \`npm run generate\`; do not edit.\n${line}\n`,
      })),
      {
        path: "packages/operations/src/tflite-operations.gen.ts",
        text: [
          "// Generated from the files in ops/ by `npm run generate`; do not edit.",
          'import { abs } from "./ops/abs.tflite.ts";',
          'import { pairs } from "./ops/pairs.tflite.ts";',
          "",
          "/** Every operation of nnhal.tflite, in the order of the files. */",
          "export const tfliteOperations = [",
          "  abs,",
          "  ...pairs,",
          "] as const;",
          "",
        ].join("\n"),
      },
      {
        path: "packages/operations/src/kernels.gen.ts",
        text: [
          "// Generated from the imports of the files *.tflite.ts in ops/ by `npm run generate`; do not edit.",
          "// In a browser one file serves both entries, so it has all of the other one.",
          'export * from "./authoring.ts";',
          'export { operations } from "./registry.gen.ts";',
          'export { abs } from "./ops/abs.ts";',
          'export { ensure } from "./fail.ts";',
          "",
        ].join("\n"),
      },
    ]);
  });

  test("a reserved word gets an underscore", () => {
    const { files, problems } = generateRegistry([operation("if.ts", "export const if_ = defineOperation({});\n")]);
    expect(problems).toEqual([]);
    expect(files[0]?.text).toContain('import { if_ } from "./ops/if.ts";');
  });

  test("leaves out tests and helpers", () => {
    const helpers = [
      operation("abs.test.ts", "test()"),
      operation("abs.tflite.test.ts", "test()"),
      operation("run.test-helper.ts", "export const run = 1;\n"),
      operation("_family.ts", "export const family = 1;\n"),
    ];
    expect(generateRegistry([abs, ...helpers])).toEqual(generateRegistry([abs]));
  });

  test.each([
    ["nothing", "const abs = 1;\n", "nothing"],
    ["another name", "export const absolute = 1;\n", "absolute"],
    ["two values", "export const abs = 1;\nexport function helper() {}\n", "abs, helper"],
    ["a list", "const abs = 1;\nexport { abs, abs as other };\n", "abs, other"],
    ["a re-export", 'export * from "./x.ts";\nexport const abs = 1;\n', "abs, *"],
    ["a default", "export default 1;\n", "default"],
  ])("refuses a file that exports %s", (_, text, found) => {
    expect(generateRegistry([operation("abs.ts", text)]).problems).toEqual([
      `packages/operations/src/ops/abs.ts: must export exactly one value, const abs, but exports ${found}`,
    ]);
  });

  test("refuses one name of two files in what nnhal.tflite imports", () => {
    const ceil = operation("ceil.tflite.ts", 'import { abs } from "../abs.ts";\nexport const ceil = unary({});\n');
    expect(generateRegistry([abs, tfliteAbs, ceil]).problems).toEqual([
      "packages/operations/src/ops/ceil.tflite.ts: imports abs of ./abs.ts, but ./ops/abs.ts exports this name too",
    ]);
  });

  test("refuses a list of the HAL's operations", () => {
    const { problems } = generateRegistry([operation("abs.ts", "export const abs = [\n  one,\n];\n")]);
    expect(problems).toEqual(["packages/operations/src/ops/abs.ts: must define one operation"]);
  });

  test.each(["Abs.ts", "conv_2d.ts", "math/abs.ts", "abs.onnx.ts"])("refuses the file name %s", (file) => {
    expect(generateRegistry([operation(file, abs.text)]).problems).toHaveLength(1);
  });
});

describe("on disk", () => {
  let root = "";
  const pathOf = (name: string) => `packages/operations/src/${name}.gen.ts`;
  const lists = ["registry", "operation-types", "families"].map(pathOf);
  const ofAbs = [...lists, pathOf("family-other"), pathOf("tflite-operations"), pathOf("kernels")];
  const registry = () => join(root, "packages/operations/src/registry.gen.ts");

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "nnhal-generate-"));
    mkdirSync(join(root, "packages/operations/src/ops"), { recursive: true });
    writeFileSync(join(root, abs.path), abs.text);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test("a missing file is stale; once written it is fresh, and writing again does nothing", () => {
    const generated = generateAll(root);
    expect(staleFiles(root, generated)).toEqual(ofAbs);
    expect(writeGenerated(root, generated)).toEqual(ofAbs);
    expect(staleFiles(root, generated)).toEqual([]);
    expect(writeGenerated(root, generated)).toEqual([]);
  });

  test("a new operation and an edit by hand both make it stale", () => {
    writeGenerated(root, generateAll(root));
    writeFileSync(join(root, conv.path), conv.text);
    expect(staleFiles(root, generateAll(root))).toEqual([...lists, pathOf("family-common")]);
    writeGenerated(root, generateAll(root));
    writeFileSync(registry(), `${readFileSync(registry(), "utf8")}// edited\n`);
    expect(staleFiles(root, generateAll(root))).toHaveLength(1);
  });
});
