/** The import of models with strings. A bundle for a browser has string-models.browser.ts in place of this file: see package.json. */
import * as loaded from "./strings.ts";

/** Import of strings. */
export const strings = () => loaded;
