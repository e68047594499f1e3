/**
 * Checks packages as npm would deliver them: each is packed, linted, its declarations are checked for both module kinds,
 * and then all are unpacked side by side and loaded with `import` and `require`.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type CommandResult, runCommand } from "./process.ts";
import type { Manifest, WorkspacePackage } from "./workspace.ts";

/** Packs `packages`, hands `work` the tarball of each, and removes them afterwards. */
export async function withTarballs(
  root: string,
  packages: readonly WorkspacePackage[],
  work: (tarballs: ReadonlyMap<WorkspacePackage, string>, folder: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-pack-"));
  try {
    const tarballs = new Map<WorkspacePackage, string>();
    for (const one of packages) {
      const to = join(folder, one.folder.replace("/", "-"));
      const packed = await runCommand(root, "pnpm", ["pack", "--pack-destination", to], join(root, one.folder));
      const file = existsSync(to) ? readdirSync(to).find((name) => name.endsWith(".tgz")) : undefined;
      if (!packed.ok || file === undefined) return { ok: false, output: `${one.folder}: pnpm pack\n${packed.output}` };
      tarballs.set(one, join(to, file));
    }
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

/** attw on every package that can be imported. */
export function checkPackedTypes(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return withTarballs(root, packages.filter(isImportable), (tarballs) =>
    each([...tarballs], ([one, file]) =>
      runCommand(root, "attw", [file, "--profile", "node16", "--no-emoji"], join(root, one.folder)),
    ),
  );
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

/** What a user of the package can name in an import: "@nnhal/types", "@nnhal/driver-core/device". */
export function entriesOf({ name, exports }: Manifest): string[] {
  return Object.keys(exports ?? {})
    .filter((path) => !path.endsWith(".json"))
    .map((path) => name + path.slice(1));
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
