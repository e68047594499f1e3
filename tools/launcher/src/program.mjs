/**
 * The command line as one program: its sources and those of the packages that it imports, bundled with parts that are loaded
 * when they are needed. It is kept in node_modules/.cache, and is built again if a source has changed.
 *
 * Packages from elsewhere stay outside. They are imported by their absolute URLs, since only the package that names one can see it.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Record of a built program.
 * @typedef {object} Kept
 * @property {string} from Its other dependencies: the version of Node.js and the install.
 * @property {string} entry The file to import, in the folder of this record.
 * @property {Readonly<Record<string, string>>} inputs The stamp of each source, by its path from the root.
 */

/** Files that nothing has used for so long are removed. A program that still runs can load parts of an older build. */
const UNUSED_MS = 24 * 60 * 60 * 1000;

/**
 * The file to import in order to run a program from its source.
 * @param {string} root The checkout.
 * @param {string} source The program, from the root.
 * @returns {Promise<string>}
 */
export async function builtProgram(root, source) {
  const folder = join(root, "node_modules/.cache/nnhal-program");
  const record = join(folder, `${basename(source, ".ts")}.json`);
  const from = surroundings(root);
  const kept = read(record);
  if (
    kept?.from === from &&
    Object.entries(kept.inputs).every(([path, stamp]) => stampOf(join(root, path)) === stamp)
  ) {
    return join(folder, kept.entry);
  }
  const { entry, inputs, files } = await bundle(root, source, folder);
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of files) replace(path, contents);
  replace(record, JSON.stringify({ from, entry, inputs }));
  removeUnused(folder, new Set([record, ...files.map(({ path }) => path)]));
  return join(folder, entry);
}

/** @param {string} root @param {string} source @param {string} folder */
async function bundle(root, source, folder) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [source],
    outdir: folder,
    // The content is part of each name, so that what runs finds its parts after another build too.
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outExtension: { ".js": ".mjs" },
    conditions: ["@nnhal/source"],
    target: `node${process.versions.node}`,
    platform: "node",
    format: "esm",
    bundle: true,
    splitting: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: "silent",
    plugins: [packagesFromElsewhere, urlsOfSources],
  });
  const main = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source);
  if (main === undefined) throw new Error(`esbuild made nothing of ${source}`);
  const sources = [...Object.keys(metafile.inputs), ...manifests(root)];
  return {
    entry: basename(main[0]),
    inputs: Object.fromEntries(sources.map((path) => [path, stampOf(join(root, path))])),
    files: outputFiles,
  };
}

/** @type {import("esbuild").Plugin} */
export const packagesFromElsewhere = {
  name: "packages from elsewhere",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, kind, resolveDir }) => {
      const isBuiltIn = path.startsWith("node:") || builtinModules.includes(path);
      if (pluginData === packagesFromElsewhere || kind === "entry-point" || isBuiltIn) return undefined;
      const found = await build.resolve(path, { kind, resolveDir, pluginData: packagesFromElsewhere });
      // One that is not installed is not found when it is asked for.
      if (found.errors.length > 0) return { path, external: true };
      return /^(#|@nnhal\/)/.test(path) ? found : { path: pathToFileURL(found.path).href, external: true };
    });
  },
};

/**
 * Modules keep the URLs of their sources, next to the files and packages that they look for.
 * @type {import("esbuild").Plugin}
 */
export const urlsOfSources = {
  name: "URLs of sources",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const url = JSON.stringify(pathToFileURL(path).href);
      const imports = text.replace(variableImport, `importFrom(${url}, `);
      const contents = imports.replaceAll("import.meta.url", url);
      if (contents === text) return undefined;
      // On the first line, so that the lines of the source keep their numbers.
      const helper = imports === text ? "" : `import { importFrom } from ${JSON.stringify(importHelper)}; `;
      return { contents: helper + contents, loader: "ts" };
    });
  },
};

/** An import of a variable, which may have notes for bundlers before it. */
const variableImport = /\bimport\((?=(?:\/\*[^*]*\*\/ )*\w+\))/g;
/** Not a part of the program: it looks for other files of its folder. */
const importHelper = new URL("import-from.mjs", import.meta.url).href;

/** Changes with Node.js, with an install, and with this file. @param {string} root */
function surroundings(root) {
  const installed = ["node_modules/.modules.yaml", "node_modules/.nnhal/stamp.json"].map((path) => join(root, path));
  return [process.version, ...[...installed, fileURLToPath(import.meta.url)].map(stampOf)].join(" ");
}

/**
 * Returns every package.json of the workspace, which lists the exports of a package. @param {string} root @returns {string[]}
 */
function manifests(root) {
  return ["apps", "packages"].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}/package.json`),
  );
}

/** Changes when a file does; empty if there is none. @param {string} path */
function stampOf(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? "" : `${status.mtimeMs}-${status.size}`;
}

/** @param {string} path @returns {Kept | undefined} */
function read(path) {
  try {
    /** @type {Kept} */
    const kept = JSON.parse(readFileSync(path, "utf8"));
    return stampOf(join(dirname(path), kept.entry)) === "" ? undefined : kept;
  } catch {
    // Absent, or not whole: it is built again.
    return undefined;
  }
}

/** @param {string} path @param {string | Uint8Array} contents */
function replace(path, contents) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}

/** @param {string} folder @param {ReadonlySet<string>} used */
function removeUnused(folder, used) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (!used.has(path) && age > UNUSED_MS) rmSync(path, { force: true });
  }
}
