/**
 * Checks packages as npm would deliver them: all are packed once, each is linted, its declarations are checked, and then all are
 * unpacked side by side and loaded with `import` and `require`.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

/** Packs packages, and hands `work` the tarball of each, and a folder of its own. */
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

/** publint on every package. */
export function lintPacked(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return withTarballs(root, packages, (tarballs) =>
    each([...tarballs], ([one, file]) =>
      runCommand(root, "publint", ["run", file, "--strict"], join(root, one.folder)),
    ),
  );
}

/** The checks of attw on every package that can be imported. */
export function checkPackedTypes(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return withTarballs(root, packages, async (tarballs) => {
    const problems: string[] = [];
    for (const [one, file] of tarballs) {
      if (isImportable(one)) problems.push(...(await typeProblems(file)).map((text) => `${one.folder}: ${text}`));
    }
    return { ok: problems.length === 0, output: problems.join("\n") };
  });
}

/**
 * The ways of finding declarations that packages are made for: those of ES modules in Node.js, and of bundlers. CommonJS finds the same
 * declarations; that of "node16" refuses ES modules, which "node20" and "nodenext" accept: see docs/decisions/0100.
 */
const resolutionKinds = ["node16-esm", "bundler"] as const;

/** What attw finds in the declarations of a packed package. It is imported only here, since that takes seconds. */
export async function typeProblems(tarball: string): Promise<string[]> {
  const { checkPackage, createPackageFromTarballData } = await import("@arethetypeswrong/core");
  const { problemAffectsResolutionKind, problemKindInfo } = await import("@arethetypeswrong/core/problems");
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (analysis.types === false) return ["has no declarations"];
  return analysis.problems
    .filter((problem) => resolutionKinds.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)))
    .map(({ kind, ...place }) => `${problemKindInfo[kind].title}: ${JSON.stringify(place)}`);
}

/** Loads every entry of every package from its tarball, both ways, in a folder that knows nothing of this workspace. */
export function loadPacked(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return withTarballs(root, packages, async (tarballs, folder) => {
    const modules = join(folder, "node_modules");
    for (const [{ folder: from, manifest }, file] of tarballs) {
      const to = join(modules, manifest.name);
      mkdirSync(to, { recursive: true });
      const unpacked = await runCommand(root, "tar", ["-xzf", file, "-C", to, "--strip-components=1"]);
      if (!unpacked.ok) return unpacked;
      linkDependencies(manifest, join(root, from), modules);
    }
    const entries = packages.flatMap(({ manifest }) => entriesOf(manifest));
    writeFileSync(join(folder, "load.mjs"), loadScript(entries));
    return runCommand(root, process.execPath, ["load.mjs"], folder);
  });
}

/** Third-party dependencies come from the workspace's install, as links to where they really are. */
function linkDependencies(manifest: Manifest, folder: string, modules: string): void {
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const installed = join(folder, "node_modules", name);
    const link = join(modules, name);
    if (name.startsWith("@nnhal/") || existsSync(link) || !existsSync(installed)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(installed), link, "junction");
  }
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
 * What a user of the package can name in an import: "@nnhal/types", "@nnhal/driver-core/device". A command that another package's
 * command imports is not one of them: it runs when it is imported.
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

/** Two at a time: each is a process of its own that waits for little but the processor. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<CommandResult>): Promise<CommandResult> {
  const queue = [...items];
  const failures: string[] = [];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      const { ok, output } = await work(item);
      if (!ok) failures.push(output);
    }
  };
  await Promise.all([worker(), worker()]);
  return { ok: failures.length === 0, output: failures.join("\n") };
}
