/**
 * Checks packages as npm would deliver them: all are packed once, each is linted, and its declarations are checked. `installed.ts` uses
 * them as users do.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, runCommand } from "./process.ts";
import type { Manifest, WorkspacePackage } from "./workspace.ts";

/** Tarballs of packages, in a folder that is removed when this process ends. */
interface Tarballs extends CommandResult {
  readonly folder: string;
}

/** The tarballs that were made, by the packages in them: several steps of a gate look at the same ones. */
const tarballsMade = new Map<string, Promise<Tarballs>>();

function packOnce(root: string, packages: readonly WorkspacePackage[]): Promise<Tarballs> {
  const key = JSON.stringify([root, ...packages.map(({ folder }) => folder)]);
  const tarballs = tarballsMade.get(key) ?? pack(root, packages);
  tarballsMade.set(key, tarballs);
  return tarballs;
}

async function pack(root: string, packages: readonly WorkspacePackage[]): Promise<Tarballs> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-pack-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const filters = packages.map((one) => `--filter=./${one.folder}`);
  const result = await runCommand(root, "pnpm", ["--recursive", ...filters, "pack", "--pack-destination", folder]);
  return { ...result, folder };
}

/** The name that npm gives to a package's tarball. */
export function tarballOf({ name, version = "" }: Pick<Manifest, "name" | "version">): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

/** Packs packages, and passes `work` the tarball of each, and a new folder. */
export async function withTarballs(
  root: string,
  packages: readonly WorkspacePackage[],
  work: (tarballs: ReadonlyMap<WorkspacePackage, string>, folder: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (packages.length === 0) return { ok: true, output: "" };
  const packed = await packOnce(root, packages);
  if (!packed.ok) return { ok: false, output: `pnpm pack\n${packed.output}` };
  const tarballs = new Map(packages.map((one) => [one, join(packed.folder, tarballOf(one.manifest))]));
  const missing = [...tarballs.values()].filter((file) => !existsSync(file));
  if (missing.length > 0)
    return { ok: false, output: `pnpm pack did not write ${missing.join(", ")}\n${packed.output}` };
  const folder = mkdtempSync(join(tmpdir(), "nnhal-packed-"));
  try {
    return await work(tarballs, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The checks of publint on every package. */
export function lintPacked(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return problemsIn(root, packages, packingProblems);
}

/** Returns publint's findings in a packed package, warnings included. It is imported only here: few steps need it. */
export async function packingProblems(tarball: string): Promise<string[]> {
  const { publint } = await import("publint");
  const { formatMessage } = await import("publint/utils");
  const { buffer, byteOffset, byteLength } = readFileSync(tarball);
  // A copy: small files are parts of a buffer that other files are in, too.
  const bytes = buffer.slice(byteOffset, byteOffset + byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
  return messages
    .filter(({ type }) => type === "error")
    .map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/** The checks of attw on every package that can be imported. */
export function checkPackedTypes(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return problemsIn(root, packages.filter(isImportable), typeProblems);
}

/** Packs packages, and finds problems in the tarball of each. */
function problemsIn(
  root: string,
  packages: readonly WorkspacePackage[],
  find: (tarball: string) => Promise<string[]>,
): Promise<CommandResult> {
  return withTarballs(root, packages, async (tarballs) => {
    const problems: string[] = [];
    for (const [one, file] of tarballs) problems.push(...(await find(file)).map((text) => `${one.folder}: ${text}`));
    return { ok: problems.length === 0, output: problems.join("\n") };
  });
}

/**
 * The ways of finding declarations that packages are made for: those of ES modules in Node.js, and of bundlers. CommonJS finds the same
 * declarations; that of "node16" refuses ES modules, which "node20" and "nodenext" accept: see docs/decisions/0100.
 */
const resolutionKinds = ["node16-esm", "bundler"] as const;

/** Returns attw's findings in the declarations of a packed package. It is imported only here, since that takes seconds. */
export async function typeProblems(tarball: string): Promise<string[]> {
  const { checkPackage, createPackageFromTarballData } = await import("@arethetypeswrong/core");
  const { problemAffectsResolutionKind, problemKindInfo } = await import("@arethetypeswrong/core/problems");
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (analysis.types === false) return ["has no declarations"];
  return analysis.problems
    .filter((problem) => resolutionKinds.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)))
    .map(({ kind, ...place }) => `${problemKindInfo[kind].title}: ${JSON.stringify(place)}`);
}

/** A module that loads entries both ways, and fails where one cannot be loaded or exports nothing. */
export function loadScript(entries: readonly string[]): string {
  return `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
let failed = false;
for (const entry of ${JSON.stringify(entries)}) {
  for (const [how, load] of [["import", (name) => import(name)], ["require", async (name) => require(name)]]) {
    try {
      if (Object.keys(await load(entry)).length === 0) throw new Error("exports nothing");
    } catch (error) {
      failed = true;
      console.log(\`\${how} of \${entry}: \${error.stack}\`);
    }
  }
}
process.exitCode = failed ? 1 : 0;
`;
}

/**
 * Returns the names that a user of the package can import: "@nnhal/types", "@nnhal/driver-core/device". A command that another
 * package's command imports is not one of them: it runs when it is imported.
 */
export function entriesOf({ name, exports = {}, bin = {} }: Manifest): string[] {
  const commands = new Set<unknown>(Object.values(bin));
  return Object.entries(exports)
    .filter(([path, target]) => !path.endsWith(".json") && !commands.has(target))
    .map(([path]) => name + path.slice(1));
}

function isImportable({ manifest }: WorkspacePackage): boolean {
  return entriesOf(manifest).length > 0;
}
