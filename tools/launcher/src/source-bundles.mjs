/**
 * Bundles of a package's sources. They are kept in node_modules/.cache, and are made again if a source of the package has changed.
 * NNHAL_SOURCES_SINCE is a time (milliseconds of Date.now) since which no source has changed: a bundle that was made or compared with
 * its sources after it is right. A run of all tests sets it, since its processes would compare the same sources hundreds of times. The
 * stacks of its programs name bundled lines.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The text of modules, by path from the root: a checkout that has been moved or copied keeps its bundles. @typedef {Readonly<Record<string, string>>} Modules */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cache = join(root, "node_modules/.cache/nnhal-sources");

/** Endings of the paths of bundled modules: those of sources instead of `.ts`, and those of shared parts. */
export const bundleEnding = ".bundled.mjs";

/**
 * False in the programs that a run of all tests starts, which do not name sources in stacks (sources.mjs): half of a bundle is its map, and
 * a seventh of the start of a program is the time to read it.
 */
const hasMaps = process.env.NNHAL_SOURCES_SINCE === undefined || process.execArgv.includes("--enable-source-maps");

/** @satisfies {import("esbuild").CommonOptions} */
const options = {
  target: `node${process.versions.node}`,
  format: "esm",
  sourcemap: hasMaps ? "inline" : false,
  sourcesContent: false,
  logLevel: "silent",
};

/** The folder of the package of this workspace whose sources a path is among; undefined if there is none. @param {string} path */
export function packageFolderOf(path) {
  const [parent, name, source, ...rest] = relative(root, path).split(sep);
  const isSource = ["apps", "packages", "tools"].includes(parent) && source === "src" && rest.length > 0;
  return isSource ? join(root, parent, name) : undefined;
}

/** The text of one of the modules, if it is among them. @param {Modules} modules @param {string} path */
export function moduleAt(modules, path) {
  return modules[relative(root, path)]?.replaceAll(/"nnhal-source:([^"]*)"/g, (_, name) =>
    JSON.stringify(pathToFileURL(join(root, name)).href),
  );
}

/**
 * Parts that entries share lie elsewhere than their sources, which name files beside them, such as those of workers, by the module's URL. So bundles
 * have the path of the source in its place, and `moduleAt` makes the URL.
 * @type {import("esbuild").Plugin}
 */
const pathsOfSources = {
  name: "paths of sources",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const place = JSON.stringify(`nnhal-source:${relative(root, path).replaceAll(sep, "/")}`);
      // Texts of programs may have these words, too: only those of a file beside the source count.
      const contents = text.replaceAll(/(?<=new URL\("\.\/[^"]*", )import\.meta\.url(?=\))/g, place);
      return contents === text ? undefined : { contents, loader: "ts" };
    });
  },
};

/**
 * Bundles the modules of a package: its entries, one more file, and their shared parts.
 * @param {string} folder @param {string} file
 * @returns {Promise<Modules>}
 */
export async function bundlePackage(folder, file) {
  const entries = entriesOf(folder);
  const names = entries.includes(file) ? [folder] : [folder, file];
  const path = join(
    cache,
    `${names.map((name) => relative(root, name).replaceAll(sep, "-")).join("+")}${hasMaps ? "" : ".plain"}.json`,
  );
  const kept = read(path);
  if (kept !== undefined && isComparedSince(path)) return kept.modules;
  const key = keyOf(folder);
  if (kept?.key === key) {
    markCompared(path);
    return kept.modules;
  }
  const modules = await bundle(folder, new Set([...entries, file]));
  write(path, { key, modules });
  return modules;
}

/** @param {string} folder @param {ReadonlySet<string>} files @returns {Promise<Modules>} */
async function bundle(folder, files) {
  const { build } = await import("esbuild");
  const source = join(folder, "src");
  const { outputFiles } = await build({
    ...options,
    entryPoints: [...files],
    outdir: source,
    outbase: source,
    outExtension: { ".js": bundleEnding },
    chunkNames: "[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    conditions: ["@nnhal/source"],
    packages: "external",
    write: false,
    plugins: [pathsOfSources],
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [relative(root, path), text]));
}

/** JavaScript of a TypeScript file. @param {string} path @param {string} text */
export async function transformFile(path, text) {
  const { transform } = await import("esbuild");
  const { code } = await transform(text, { ...options, loader: "ts", sourcefile: basename(path) });
  return code;
}

/** The source files that a package exports. @param {string} folder @returns {string[]} */
function entriesOf(folder) {
  /** @type {{ exports?: Record<string, unknown> }} */
  const { exports = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.values(exports)
    .map((entry) => (typeof entry === "object" && entry !== null ? Reflect.get(entry, "@nnhal/source") : entry))
    .filter((entry) => typeof entry === "string" && entry.endsWith(".ts"))
    .map((entry) => join(folder, entry));
}

/** Changes with everything that a bundle of a package is made from. @param {string} folder */
function keyOf(folder) {
  const hash = createHash("sha256");
  const sources = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" }).map((path) =>
    join("src", path),
  );
  const own = fileURLToPath(import.meta.url);
  for (const path of ["package.json", "tsconfig.json", ...sources.sort()]) {
    if (/\.json$|(?<!\.test)\.ts$/.test(path)) hash.update(`${path}\0${readFileSync(join(folder, path), "utf8")}\0`);
  }
  return hash.update(`${process.version}\0${readFileSync(own, "utf8")}`).digest("hex");
}

/**
 * Returns true if a bundle has been compared with its sources since the time from which on these are the same. @param {string}
 * path
 */
function isComparedSince(path) {
  const since = Number(process.env.NNHAL_SOURCES_SINCE ?? Number.NaN);
  return statSync(path).mtimeMs >= since;
}

/** @param {string} path */
function markCompared(path) {
  if (process.env.NNHAL_SOURCES_SINCE === undefined) return;
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // A checkout that cannot be written to works all the same.
  }
}

/** @param {string} path @returns {{ key: string, modules: Modules } | undefined} */
function read(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // Absent, or not whole: it is written again.
    return undefined;
  }
}

/** @param {string} path @param {{ key: string, modules: Modules }} content */
function write(path, content) {
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(draft, JSON.stringify(content));
    renameSync(draft, path);
  } catch {
    // A checkout that cannot be written to works all the same.
  }
}
