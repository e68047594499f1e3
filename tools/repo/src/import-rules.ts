/**
 * Who may import whom. The table is the rule; `checkImports` holds it against each package.json and against every import
 * statement, so that neither can drift from it.
 */
import { builtinModules } from "node:module";
import ts from "typescript";
import { isTest, type Manifest, type SourceFile, type WorkspacePackage } from "./workspace.ts";

/** "anything", "packages" (all but applications and tools), or folder names under packages/, some with one subpath. */
type Allowed = "anything" | "packages" | readonly string[];

const forBackends = ["backend", "operations", "types", "utils"];

const allowedImports: Readonly<Record<string, Allowed>> = {
  types: [],
  "create-nnhal": [],
  batch: ["operations"],
  operations: ["types"],
  validation: ["types", "operations"],
  utils: ["types", "operations"],
  backend: ["types", "operations", "utils/time"],
  "driver-core": ["types", "operations", "validation", "utils", "backend"],
  transport: ["types", "utils", "driver-core"],
  program: ["utils"],
  service: ["types", "driver-core", "transport"],
  runtime: ["types", "operations", "validation", "utils", "driver-core", "transport/client"],
  diff: ["types", "operations", "utils", "driver-core", "runtime"],
  tflite: ["types", "operations", "extension-tflite"],
  network: [
    "types",
    "operations",
    "backend",
    "backend-reference",
    "backend-wasm",
    "utils",
    "driver-core",
    "runtime",
    "diff",
    "tflite",
    "extension-tflite",
  ],
  nnhal: ["network", "cli"],
  conformance: "packages",
  "test-kit": ["types", "operations"],
};

/** Only tests, and tools that run programs as tests do, import this package, so only development dependencies name it. */
const forTestsOnly = "test-kit";

/**
 * Packages that run in a browser too, so they import only types of Node.js and look up modules when they need them
 * (`nodeModule` of @nnhal/utils/node). `backend` is one of them since backend-reference uses it.
 */
export const isomorphicPackages = [
  "types",
  "operations",
  "validation",
  "utils",
  "backend",
  "tflite",
  "backend-reference",
  "backend-tfjs",
  "backend-wasm",
  "driver-core",
  "transport",
  "runtime",
  "diff",
  "extension-fibonacci",
  "extension-mediapipe",
  "extension-tflite",
  "network",
  "nnhal",
] as const;

const scope = "@nnhal/";
const builtins = new Set(builtinModules);

/** The rule for a package in `folder`; undefined if there is none yet. */
export function findAllowed(folder: string): Allowed | undefined {
  const [parent, name = ""] = folder.split("/");
  if (parent === "apps" || parent === "tools") return "anything";
  if (name.startsWith("backend-") || name.startsWith("extension-")) return forBackends;
  return Object.hasOwn(allowedImports, name) ? allowedImports[name] : undefined;
}

/** Every breach, as lines a person can act on. `root` is the workspace's own manifest, whose tools tests may use. */
export function checkImports(packages: readonly WorkspacePackage[], root: Manifest): string[] {
  const folders = new Map(packages.map((one) => [one.manifest.name, one.folder]));
  return [...packages.flatMap((one) => checkPackage(one, folders, root)), ...checkCycles(packages)];
}

function checkPackage(one: WorkspacePackage, folders: ReadonlyMap<string, string>, root: Manifest): string[] {
  const { folder, manifest, sources } = one;
  const allowed = findAllowed(folder);
  if (allowed === undefined) {
    return [`${folder}: has no rule about what it may import; add one to the table in tools/repo/src/import-rules.ts`];
  }
  const problems: string[] = [];
  for (const [name, range] of Object.entries(runtimeDependencies(manifest))) {
    if (!name.startsWith(scope)) continue;
    if (!range.startsWith("workspace:")) {
      problems.push(`${folder}/package.json: ${name} must be "workspace:^", not "${range}"`);
    }
    if (name === scope + forTestsOnly) {
      problems.push(`${folder}/package.json: ${name} is for tests only: it belongs to the devDependencies`);
    } else if (!mayImport(allowed, name, folders, true)) {
      problems.push(`${folder}/package.json: depends on ${name}, which ${folder} must not import`);
    }
  }
  for (const source of sources) {
    for (const problem of checkSource(source, one, allowed, folders, root)) problems.push(`${source.path}: ${problem}`);
  }
  return problems;
}

function checkSource(
  source: SourceFile,
  { folder, manifest }: WorkspacePackage,
  allowed: Allowed,
  folders: ReadonlyMap<string, string>,
  root: Manifest,
): string[] {
  const test = isTest(source.path);
  const isomorphic = isomorphicPackages.some((name) => folder === `packages/${name}`);
  const forNode = new Set(sourcesForNode(manifest).map((path) => `${folder}/${path}`));
  const declared = runtimeDependencies(manifest);
  const declaredForTests = { ...root.devDependencies, ...declared, ...manifest.devDependencies };
  const inBuildOrFound = [...(manifest.bundledIntoBuild ?? []), ...(manifest.foundIfInstalled ?? [])];
  const tool = folder.startsWith("tools/");
  const problems: string[] = [];
  const values = isomorphic && !test ? new Set(importedModules(withoutTypeImports(source.text))) : undefined;
  for (const specifier of importedModules(source.text)) {
    if (specifier.startsWith(".")) {
      const problem = checkRelative(source.path, specifier, folder, tool);
      if (problem !== undefined) problems.push(problem);
      continue;
    }
    if (specifier.startsWith("#")) {
      if (!Object.hasOwn(manifest.imports ?? {}, specifier)) {
        problems.push(`imports ${specifier}, which the field "imports" of ${folder}/package.json does not have`);
      }
      continue;
    }
    const name = packageName(specifier);
    if (specifier.startsWith("node:")) {
      if (values?.has(specifier) && !forNode.has(source.path))
        problems.push(`imports ${specifier}, but ${folder} also runs in a browser`);
    } else if (builtins.has(specifier)) {
      problems.push(`imports ${specifier}: write it as node:${specifier}`);
    } else if (name === manifest.name) {
      if (!test) problems.push(`imports its own package as ${specifier}: use a relative path`);
    } else if (name === scope + forTestsOnly && !test && !tool) {
      problems.push(`imports ${specifier}, which only tests and tools import`);
    } else if (!Object.hasOwn(test || tool || inBuildOrFound.includes(name) ? declaredForTests : declared, name)) {
      problems.push(`imports ${specifier}, which ${folder}/package.json does not declare`);
    } else if (name.startsWith(scope) && !test && !mayImport(allowed, specifier, folders, false)) {
      problems.push(`imports ${specifier}, which ${folder} must not import`);
    }
  }
  return problems;
}

/** The sources that the fields "imports" and "exports" name for Node.js alone: others take their place in a browser. */
function sourcesForNode({ imports = {}, exports = {} }: Manifest): string[] {
  return [...Object.values(imports), ...Object.values(exports)].flatMap((target) => {
    const [source, other] = ["node", "default"].map((platform) => sourceOf(propertyOf(target, platform)));
    return source !== undefined && other !== undefined ? [source.replace("./", "")] : [];
  });
}

function sourceOf(target: unknown): string | undefined {
  const source = propertyOf(target, "@nnhal/source");
  return typeof source === "string" ? source : undefined;
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function checkRelative(path: string, specifier: string, folder: string, outsideAllowed: boolean): string | undefined {
  if (!/\.(ts|mjs|json)$/.test(specifier)) return `imports ${specifier}: a relative path ends in .ts`;
  const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
  if (!outsideAllowed && !target.startsWith(`${folder}/`)) {
    return `imports ${specifier}, which is outside ${folder}: use the package's name`;
  }
  return undefined;
}

/** `whole` asks about a dependency, which a rule on one subpath already justifies. */
function mayImport(allowed: Allowed, specifier: string, folders: ReadonlyMap<string, string>, whole: boolean): boolean {
  if (allowed === "anything") return true;
  if (allowed === "packages") return folders.get(packageName(specifier))?.startsWith("packages/") ?? false;
  const path = specifier.slice(scope.length);
  return allowed.some(
    (entry) => entry === path || path.startsWith(`${entry}/`) || (whole && entry.startsWith(`${path}/`)),
  );
}

/** Every module that a source imports or re-exports, statically or with a literal import(). */
export function importedModules(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map((file) => file.fileName);
}

/** A source without what erases: `import type … from "…"` and `typeof import("…")`. */
function withoutTypeImports(text: string): string {
  return text.replace(/^(import|export) type\b[^;]*;/gm, "").replace(/\btypeof import\("[^"]*"\)/g, "unknown");
}

function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function runtimeDependencies(manifest: Manifest): Readonly<Record<string, string>> {
  return { ...manifest.peerDependencies, ...manifest.optionalDependencies, ...manifest.dependencies };
}

/** Cycles among the packages, development dependencies included: nothing could be built first in one. */
function checkCycles(packages: readonly WorkspacePackage[]): string[] {
  const uses = new Map(
    packages.map(({ manifest }) => [
      manifest.name,
      Object.keys({ ...runtimeDependencies(manifest), ...manifest.devDependencies }).filter((n) => n.startsWith(scope)),
    ]),
  );
  const done = new Set<string>();
  const problems: string[] = [];
  const visit = (name: string, trail: readonly string[]): void => {
    const start = trail.indexOf(name);
    if (start >= 0) {
      problems.push(`packages depend on each other in a circle: ${[...trail.slice(start), name].join(" → ")}`);
      return;
    }
    if (done.has(name)) return;
    for (const next of uses.get(name) ?? []) visit(next, [...trail, name]);
    done.add(name);
  };
  for (const name of uses.keys()) visit(name, []);
  return problems;
}
