/** The import of rare constants. A bundle for a browser has expanding.browser.ts in place of this file: see package.json. */
import * as loaded from "./rare-constants.ts";

/** Expansion of the constants of a file, and of inputs to constants. */
export const expanding = () => loaded;
