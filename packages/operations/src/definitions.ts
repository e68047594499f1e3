/** The definitions of all operations. A bundle for a browser has definitions.browser.ts in place of this file: see package.json. */
import type { Operation } from "./define.ts";

export { operations } from "./registry.gen.ts";

/**
 * Loaders by operation code, each of which loads a family of definitions. Empty here: every definition is loaded
 * already.
 */
export const loaders: ReadonlyMap<number, () => Promise<readonly Operation[]>> = new Map();
