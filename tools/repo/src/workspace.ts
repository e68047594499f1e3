/** The packages of this workspace and their source files, read from disk: the input of the checks and the generators. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const workspaceRoot = fileURLToPath(new URL("../../../", import.meta.url));

/** The fields of a package.json that the checks read. */
export interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
  /** Modules that depend on the platform: those of Node.js, and those of all others. */
  readonly imports?: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  /** Development dependencies whose code is part of the build, so that users do not install them. */
  readonly bundledIntoBuild?: readonly string[];
  /** Development dependencies that the sources import if a user has installed them. */
  readonly foundIfInstalled?: readonly string[];
}

export interface SourceFile {
  /** From the root of the checkout, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface WorkspacePackage {
  /** From the root of the checkout, with forward slashes: "packages/types". */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Everything under src/. */
  readonly sources: readonly SourceFile[];
}

const codeFile = /\.(ts|mts|cts|js|mjs|cjs)$/;
const ignoredFolders = new Set(["node_modules", "dist", "coverage"]);

/** All packages, sorted by folder. */
export function readWorkspace(root: string): WorkspacePackage[] {
  return ["apps", "packages", "tools"].flatMap((parent) =>
    listFolder(join(root, parent))
      .filter((name) => existsSync(join(root, parent, name, "package.json")))
      .map((name) => ({
        folder: `${parent}/${name}`,
        manifest: readManifest(join(root, parent, name)),
        sources: readCode(root, join(root, parent, name, "src")),
      })),
  );
}

/** The packages that are published and have sources. */
export function publicPackages(root: string): WorkspacePackage[] {
  return readWorkspace(root).filter((one) => one.manifest.private !== true && hasSources(one));
}

export function hasSources({ sources }: WorkspacePackage): boolean {
  return sources.length > 0;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Every document below `folder`, except in folders that hold dependencies or build output. Changelogs are generated. */
export function readDocuments(root: string, folder: string): SourceFile[] {
  return readFiles(root, folder, (path) => path.endsWith(".md") && !path.endsWith("CHANGELOG.md"));
}

/** Every code file below `folder`, except in folders that hold dependencies or build output. */
export function readCode(root: string, folder: string): SourceFile[] {
  return readFiles(root, folder, (path) => codeFile.test(path));
}

function readFiles(root: string, folder: string, isWanted: (path: string) => boolean): SourceFile[] {
  return [...walk(folder)]
    .filter(isWanted)
    .map((path) => ({ path: relative(root, path).split(sep).join("/"), text: readFileSync(path, "utf8") }));
}

function* walk(folder: string): Generator<string> {
  if (!existsSync(folder)) return;
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith(".") || ignoredFolders.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Tests, and what only tests use: `x.test.ts`, `x.test-helper.ts`, `x.test-child.ts`. None is published. */
export function isTest(path: string): boolean {
  return /\.test(-[a-z]+)?\.ts$/.test(path);
}
