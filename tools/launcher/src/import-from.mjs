/** Imports for a built program (program.mjs), which lies elsewhere than its sources. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * Imports a module that is only known when the program runs, as the source at `parent` would.
 * @param {string} parent @param {string} specifier @returns {Promise<unknown>}
 */
export async function importFrom(parent, specifier) {
  const isUrl = /^[a-z]{2,}:/.test(specifier);
  return import(isUrl ? specifier : pathToFileURL(createRequire(parent).resolve(specifier)).href);
}
