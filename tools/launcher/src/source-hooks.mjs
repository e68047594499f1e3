/**
 * Loading of sources (sources.mjs). A package of the workspace is bundled when one of its files is first asked for: its entries
 * and that file, without the packages that it imports. A process then loads a dozen modules instead of hundreds. Other
 * TypeScript files, such as a user's backend, are transformed one by one.
 *
 * Modules keep their URLs. Parts that several entries of a package share become modules that have URLs, but no files.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleEnding, bundlePackage, moduleAt, packageFolderOf, transformFile } from "./source-bundles.mjs";

/** The modules of each package that this process has loaded, by the package's folder. @type {Map<string, Promise<import("./source-bundles.mjs").Modules>>} */
const packages = new Map();

/** The program of the process. @type {string | undefined} */
let program;

/** @type {import("node:module").InitializeHook<string | undefined>} */
export function initialize(url) {
  program = url;
}

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, next) {
  if (specifier.endsWith(bundleEnding) && context.parentURL !== undefined) {
    const { href } = new URL(specifier, context.parentURL);
    const source = `${href.slice(0, -bundleEnding.length)}.ts`;
    return { url: existsSync(fileURLToPath(source)) ? source : href, shortCircuit: true };
  }
  const sources = { ...context, conditions: ["@nnhal/source", ...context.conditions] };
  try {
    return await next(specifier, sources);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing || program === undefined || !/^[@a-z]/.test(specifier) || specifier.includes(":")) throw error;
    // A peer dependency is that of the program. Where each package has a folder of its own, only a full install has it there too.
    return Promise.resolve(next(specifier, { ...sources, parentURL: program })).catch(() => {
      throw error;
    });
  }
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== "file:" || !(/\.m?ts$/.test(pathname) || pathname.endsWith(bundleEnding))) return next(url, context);
  const path = fileURLToPath(url);
  const source = (await moduleOfPackage(path)) ?? (await transformFile(path, await readFile(path, "utf8")));
  return { format: "module", source, shortCircuit: true };
}

/** The text of a module of a package; undefined for a file elsewhere. @param {string} path */
async function moduleOfPackage(path) {
  const folder = packageFolderOf(path);
  if (folder === undefined) return undefined;
  const modules = packages.get(folder) ?? bundlePackage(folder, path);
  packages.set(folder, modules);
  const name = path.replace(/\.ts$/, bundleEnding);
  // A file that is neither an entry nor the one that was loaded first: it shares no modules with these.
  return moduleAt(await modules, name) ?? moduleAt(await bundlePackage(folder, path), name);
}
