/** Imports for a built program (program.mjs), which lies elsewhere than its sources. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Imports a module that is only known when the program runs, as the source at `parent` would. A package of the workspace that is not built is
 * loaded from its sources.
 * @param {string} parent @param {string} specifier @returns {Promise<unknown>}
 */
export async function importFrom(parent, specifier) {
  if (/^[a-z]{2,}:/.test(specifier)) return import(specifier);
  let file;
  try {
    file = createRequire(parent).resolve(specifier);
  } catch (error) {
    file = sourceOf(specifier, error);
    if (file === undefined) throw error;
    await import("./sources.mjs");
  }
  return import(pathToFileURL(file).href);
}

/**
 * The source of an entry whose built file was not found; undefined if it has none.
 * @param {string} specifier @param {unknown} error
 */
function sourceOf(specifier, error) {
  if (!(error instanceof Error) || !("path" in error) || typeof error.path !== "string") return undefined;
  const { name, exports } = JSON.parse(readFileSync(error.path, "utf8"));
  const source = exports?.[`.${specifier.slice(name.length)}`]?.["@nnhal/source"];
  return typeof source === "string" ? join(dirname(error.path), source) : undefined;
}
