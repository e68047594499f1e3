// The one build recipe: every published package is built to ES modules and CommonJS, each with its own declarations.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Options } from "tsup";

const root = fileURLToPath(new URL(".", import.meta.url));

/** A library package. `entry` maps each output path inside dist/ (without extension) to its source file. */
export function library(entry: Record<string, string> = { index: "src/index.ts" }, more: Options = {}) {
  const bundled = bundledIntoBuild();
  const node = defineConfig({
    entry,
    format: ["esm", "cjs"],
    target: "node20",
    platform: "neutral",
    dts: more.dts !== false && { entry: declarationsOf(entry) },
    sourcemap: true,
    // Packages have their sources beside the maps.
    esbuildOptions(options) {
      options.sourcesContent = false;
    },
    // The build for browsers cleans its own folder.
    clean: ["!browser/**"],
    splitting: true,
    treeshake: false,
    ...(bundled.length > 0 && bundling(bundled)),
    ...more,
  });
  return hasFilesForBrowsers() ? [node, forBrowsers(entry)] : node;
}

/**
 * The same entries for browsers, in dist/browser: files of the package's field `browser` take the place of others, and what they import
 * by need is a file of its own.
 */
function forBrowsers(entry: Record<string, string>) {
  return defineConfig({
    entry,
    outDir: "dist/browser",
    format: ["esm"],
    target: "es2022",
    platform: "browser",
    clean: true,
    splitting: true,
    treeshake: false,
  });
}

/** Whether the package at hand has other files for browsers. */
function hasFilesForBrowsers(): boolean {
  const manifest: { readonly browser?: unknown } = JSON.parse(readFileSync("package.json", "utf8"));
  return manifest.browser !== undefined;
}

/** A command: ES modules only, no declarations, since it is not imported. */
export function command(entry: Record<string, string>, more: Options = {}) {
  return library(entry, { format: ["esm"], platform: "node", dts: false, ...more });
}

/** The declarations of entries, which turbo has made for all packages before it builds one. */
function declarationsOf(entry: Record<string, string>): Record<string, string> {
  const folder = join(root, ".declarations", relative(root, process.cwd()));
  if (!existsSync(folder)) throw new Error(`${folder} does not exist: "npm run declarations" makes it`);
  const pairs = Object.entries(entry).map(([path, source]) => [path, join(folder, source.replace(/\.ts$/, ".d.ts"))]);
  return Object.fromEntries(pairs);
}

/** What the package at hand names as `bundledIntoBuild`. */
function bundledIntoBuild(): readonly string[] {
  const manifest: { readonly bundledIntoBuild?: readonly string[] } = JSON.parse(readFileSync("package.json", "utf8"));
  return manifest.bundledIntoBuild ?? [];
}

/** Takes packages into the build, and writes their licences beside it. They may be CommonJS and use require. */
function bundling(packages: readonly string[]): Options {
  const banner =
    'import { createRequire as nnhalCreateRequire } from "node:module";\nconst require = nnhalCreateRequire(import.meta.url);';
  return {
    noExternal: [...packages],
    banner: ({ format }) => (format === "esm" ? { js: banner } : {}),
    onSuccess: async () => writeFileSync(join("dist", "THIRD-PARTY-LICENSES.txt"), licencesOf(packages)),
  };
}

/** The licences of packages. The first is a dependency of the package at hand, the others may be dependencies of the first. */
function licencesOf(packages: readonly string[]): string {
  const own = createRequire(join(process.cwd(), "package.json"));
  const first = createRequire(own.resolve(packages[0]));
  const texts = packages.map((name) => {
    const folder = folderOf(name, (name === packages[0] ? own : first).resolve(name));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no file with its licence in ${folder}`);
    const { version }: { readonly version: string } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return `This package contains the code of:\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** The folder of a package, from the path of its main file. */
function folderOf(name: string, main: string): string {
  const end = join("node_modules", ...name.split("/"));
  for (let folder = dirname(main); folder !== dirname(folder); folder = dirname(folder))
    if (folder.endsWith(end)) return folder;
  throw new Error(`${main} does not lie in a folder ${end}`);
}
