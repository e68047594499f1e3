/** The definitions of all operations. A bundle for a browser has definitions.browser.ts in place of this file: see package.json. */
import type { Operation } from "./define.ts";

export { operations } from "./registry.gen.ts";

/** What loads a definition and others of its family, by code: none has to be loaded. */
export const loaders: ReadonlyMap<number, () => Promise<readonly Operation[]>> = new Map();
