/**
 * The page, built from its sources. It is kept in node_modules/.cache, and is built again if a source has changed: a build takes as long as
 * many tests.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const studio = join(root, "apps/studio");
const cache = join(root, "node_modules/.cache/nnhal-studio");
/** A test may still serve the page of a build before. */
const UNUSED_MS = 60 * 60 * 1000;

/** The folder of the built page. Processes that need it at once build it each, and one of the results stays. */
export async function builtPage(): Promise<string> {
  const folder = join(cache, keyOfSources());
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  removeUnused();
  const draft = `${folder}-${process.pid}`;
  await build({ configFile: join(studio, "vite.config.ts"), build: { outDir: draft, minify: false } });
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
  return folder;
}

/** Changes with everything that the page may be made from. */
function keyOfSources(): string {
  const packages = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name));
  const sources = [studio, ...packages].flatMap((folder) => [
    join(folder, "package.json"),
    ...filesIn(join(folder, "src")),
  ]);
  const others = ["apps/studio/vite.config.ts", "apps/cli/demo/digits-uint8.tflite", "tsup.base.ts"];
  const hash = createHash("sha256");
  for (const path of [
    ...sources,
    ...[...others, "node_modules/.modules.yaml"].map((name) => join(root, name)),
  ].sort()) {
    const status = statSync(path, { throwIfNoEntry: false });
    hash.update(`${path} ${status?.mtimeMs} ${status?.size}\n`);
  }
  return hash.update(process.version).digest("hex").slice(0, 32);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => !/\.test(?:-helper)?\.ts$/.test(path)).map((path) => join(folder, path));
}

function removeUnused(): void {
  for (const path of readdirSync(cache).map((name) => join(cache, basename(name))))
    if (Date.now() - statSync(path).mtimeMs > UNUSED_MS) rmSync(path, { recursive: true, force: true });
}
