/** The import for inputs without elements. A bundle for a browser has emptying.browser.ts in place of this file: see package.json. */
import * as loaded from "./empty-inputs.ts";

/** What makes inputs constants without elements. */
export const emptying = () => loaded;
