/**
 * Generated files: what each should contain, computed from the sources, and whether the file on disk says the same. The
 * index of operations comes from the folder of operations, so adding a file there is all it takes to register one.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describedPackages } from "./repository.ts";
import { readCode, type SourceFile } from "./workspace.ts";

export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

export interface Generated {
  readonly files: readonly GeneratedFile[];
  /** Why a file could not be generated, as lines a person can act on. */
  readonly problems: readonly string[];
}

const operationsFolder = "packages/operations/src/ops";
const documentPath = "docs/operations.md";
const registryPath = "packages/operations/src/registry.gen.ts";
const tfliteListPath = "packages/operations/src/tflite-operations.gen.ts";
const kernelsPath = "packages/operations/src/kernels.gen.ts";
const familiesPath = "packages/operations/src/families.gen.ts";
const operationTypesPath = "packages/operations/src/operation-types.gen.ts";

const head = "// Generated from the files in ops/ by `npm run generate`; do not edit.";

/** The file of an operation of the HAL ends so, and that of operators of .tflite. */
const halEnding = ".ts";
const tfliteEnding = ".tflite.ts";

/** Those among the HAL's operation names, and those that a new one might bring. */
const reservedWords = new Set(["case", "delete", "do", "else", "for", "if", "in", "return", "switch", "while", "with"]);

/** The generated files of the checkout at `root` that its folders alone decide, as they should be. */
export function generateAll(root: string): Generated {
  const sources = readCode(root, join(root, operationsFolder));
  const own = sources.length === 0 ? { files: [], problems: [] } : generateRegistry(sources);
  const described = existsSync(join(root, "package.json")) ? describedPackages(root) : [];
  return { files: [...own.files, ...described], problems: own.problems };
}

/** Generates files from the definitions themselves. The registry must be fresh: it is loaded. */
export async function generateFromDefinitions(): Promise<Generated> {
  const { operationsDocument } = await import("./operations-document.ts");
  return { files: [{ path: documentPath, text: operationsDocument() }], problems: [] };
}

/** Writes what differs; the paths it wrote. */
export function writeGenerated(root: string, { files }: Generated): string[] {
  const stale = files.filter((file) => !isFresh(root, file));
  for (const { path, text } of stale) writeFileSync(join(root, path), text);
  return stale.map(({ path }) => path);
}

/** Returns the paths whose content on disk is stale. */
export function staleFiles(root: string, { files }: Generated): string[] {
  return files.filter((file) => !isFresh(root, file)).map(({ path }) => path);
}

function isFresh(root: string, { path, text }: GeneratedFile): boolean {
  const full = join(root, path);
  return existsSync(full) && readFileSync(full, "utf8") === text;
}

/** The registry of the operations that `sources` define, and the map of their types, in the order of their names. */
export function generateRegistry(sources: readonly SourceFile[]): Generated {
  const { problems, hal, tflite } = findDefinitions(sources);
  const files = [
    { path: registryPath, text: registryText(hal) },
    { path: operationTypesPath, text: operationTypesText(hal) },
    ...generateFamilies(hal),
    { path: tfliteListPath, text: tfliteText(tflite) },
    { path: kernelsPath, text: kernelsText(sources, problems) },
  ];
  return { files, problems };
}

/** The operations that the files define, in the order of their names: the HAL's, and those of .tflite. */
function findDefinitions(sources: readonly SourceFile[]) {
  const problems: string[] = [];
  const hal: Defined[] = [];
  const tflite: Defined[] = [];
  for (const { path, text } of sources) {
    const file = path.slice(operationsFolder.length + 1);
    if (/\.test(-helper)?\.ts$/.test(file) || file.startsWith("_")) continue;
    if (file.includes("/") || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*(\.tflite)?\.ts$/.test(file)) {
      problems.push(
        `${path}: an operation's file lies directly in ops/ and has a kebab-case name ending in .ts or .tflite.ts`,
      );
      continue;
    }
    const [operations, ending] = file.endsWith(tfliteEnding) ? [tflite, tfliteEnding] : [hal, halEnding];
    const name = constantName(file.slice(0, -ending.length));
    const exported = exportedValues(text);
    if (exported.length !== 1 || exported[0] !== name) {
      const found = exported.length === 0 ? "nothing" : exported.join(", ");
      problems.push(`${path}: must export exactly one value, const ${name}, but exports ${found}`);
      continue;
    }
    operations.push({ name, file, isList: text.includes(`export const ${name} = [`) });
  }
  for (const operations of [hal, tflite]) operations.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { file, isList } of hal)
    if (isList) problems.push(`${operationsFolder}/${file}: must define one operation`);
  return { problems, hal, tflite };
}

/** A constant that defines an operation, or a list of operations of .tflite, and its file. */
interface Defined {
  readonly name: string;
  readonly file: string;
  readonly isList: boolean;
}

function operationTypesText(operations: readonly Defined[]): string {
  const lines = [
    head,
    ...operations.map(({ name, file }) => `import type { ${name} } from "./ops/${file}";`),
    "",
    "/** The type of each operation's definition, by the HAL's name of the operation. */",
    "export interface OperationTypes {",
    ...operations.map(({ name, file }) => `  readonly ${halName(file)}: typeof ${name};`),
    "}",
    "",
  ];
  return lines.join("\n");
}

/** conv-2d.ts → CONV_2D. */
function halName(file: string): string {
  return file.slice(0, -".ts".length).replaceAll("-", "_").toUpperCase();
}

function tfliteText(operations: readonly Defined[]): string {
  const lines = [
    head,
    ...operations.map(({ name, file }) => `import { ${name} } from "./ops/${file}";`),
    "",
    "/** Every operation of nnhal.tflite, in the order of the files. */",
    "export const tfliteOperations = [",
    ...operations.map(({ name, isList }) => (isList ? `  ...${name},` : `  ${name},`)),
    "] as const;",
    "",
  ];
  return lines.join("\n");
}

/**
 * The entry from which the build of nnhal.tflite imports what its operations use of the rest of the package. It has all operations of the HAL besides, so
 * that a family of them is one file of the build for browsers.
 */
function kernelsText(sources: readonly SourceFile[], problems: string[]): string {
  const files = new Map<string, string>();
  for (const { path, text } of sources) {
    if (!path.endsWith(tfliteEnding) || path.endsWith(`.test${tfliteEnding}`)) continue;
    for (const [, list = "", specifier = ""] of text.matchAll(/^import \{([^}]*)\} from "(\.[^"]*)";$/gm)) {
      const file = specifier.startsWith("../") ? specifier.slice(1) : `./ops${specifier.slice(1)}`;
      if (file.endsWith(tfliteEnding) || file.startsWith("./tflite-")) continue;
      for (const entry of list.split(",").map((each) => each.trim())) {
        if (entry === "" || entry.startsWith("type ")) continue;
        const [name = entry] = entry.split(" as ");
        const other = files.get(name);
        if (other !== undefined && other !== file)
          problems.push(`${path}: imports ${name} of ${file}, but ${other} exports this name too`);
        files.set(name, file);
      }
    }
  }
  const exports = [...files].map(([name, file]) => `export { ${name} } from "${file}";`).sort();
  return [
    "// Generated from the imports of the files *.tflite.ts in ops/ by `npm run generate`; do not edit.",
    "// In a browser one file serves both entries, so it has all of the other one.",
    'export * from "./authoring.ts";',
    'export { operations } from "./registry.gen.ts";',
    ...exports,
    "",
  ].join("\n");
}

function registryText(operations: readonly Defined[]): string {
  const lines = [
    head,
    'import type { Operation } from "./define.ts";',
    ...operations.map(({ name, file }) => `import { ${name} } from "./ops/${file}";`),
    "",
    "/** Every operation, in the order of the names. */",
    "export const operations: readonly Operation[] = [",
    ...operations.map(({ name }) => `  ${name},`),
    "];",
    "",
  ];
  return lines.join("\n");
}

/**
 * The operations that a bundle for a browser loads together, by their files: those of most networks, those with states, and those on
 * regions of images. All others are a family too.
 */
const familyFiles: Readonly<Record<string, RegExp>> = {
  common:
    /^(add|average-pool-2d|concatenation|conv-2d|depthwise-conv-2d|dequantize|fully-connected|grouped-conv-2d|logistic|max-pool-2d|mean|mul|pad|quantize|relu6?|reshape|softmax|tanh)\.ts$/,
  recurrent: /lstm|rnn|svdf/,
  regions: /roi|bbox|proposals|heatmap|detection/,
};

/** A file for each family, which exports its operations, and the list of families. */
function generateFamilies(operations: readonly Defined[]): GeneratedFile[] {
  const families = new Map<string, Defined[]>(Object.keys(familyFiles).map((name) => [name, []]));
  families.set("other", []);
  for (const operation of operations) {
    const named = Object.entries(familyFiles).find(([, pattern]) => pattern.test(operation.file));
    families.get(named?.[0] ?? "other")?.push(operation);
  }
  const present = [...families].filter(([, members]) => members.length > 0);
  return [
    { path: familiesPath, text: familiesText(present) },
    ...present.map(([family, members]) => ({
      path: `packages/operations/src/${familyFile(family)}`,
      text: [head, ...members.map(({ name, file }) => `export { ${name} } from "./ops/${file}";`), ""].join("\n"),
    })),
  ];
}

const familyFile = (family: string) => `family-${family}.gen.ts`;

function familiesText(families: readonly (readonly [string, readonly Defined[]])[]): string {
  const lines = [
    head,
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
    ...families.flatMap(([family, members]) => [
      "  {",
      ...(family === "other" ? [] : namesText(members)),
      `    load: async () => Object.values(await import("./${familyFile(family)}")),`,
      "  },",
    ]),
    "];",
    "",
  ];
  return lines.join("\n");
}

function namesText(members: readonly Defined[]): string[] {
  const [first] = members;
  if (members.length === 1 && first !== undefined) return [`    names: ["${halName(first.file)}"],`];
  return ["    names: [", ...members.map(({ file }) => `      "${halName(file)}",`), "    ],"];
}

/** conv-2d → conv2d, depth-to-space → depthToSpace. */
export function camelCase(kebab: string): string {
  return kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the name of an operation file's export. A reserved word gets an underscore. */
function constantName(kebab: string): string {
  const name = camelCase(kebab);
  return reservedWords.has(name) ? `${name}_` : name;
}

/** The names of the values that a formatted source exports; "*" for a re-export of everything. Types do not count. */
function exportedValues(text: string): string[] {
  const declared = [...text.matchAll(/^export (?:declare )?(?:async )?(?:const|let|var|function\*?|class) +(\w+)/gm)];
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list = ""]) => list.split(","));
  const listed = lists.map((entry) => entry.trim()).filter((entry) => entry !== "" && !entry.startsWith("type "));
  return [
    ...declared.map(([, name = ""]) => name),
    ...listed.map((entry) => entry.split(/\s+as\s+/).at(-1) ?? entry),
    ...(/^export \*/m.test(text) ? ["*"] : []),
    ...(/^export default/m.test(text) ? ["default"] : []),
  ];
}
