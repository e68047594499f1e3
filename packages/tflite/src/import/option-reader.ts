/** Reader of the options of custom operators. A bundle for a browser has option-reader.browser.ts in place of this file: see package.json. */
import * as loaded from "./custom-options.ts";

/** Reader of the options of custom operators. */
export const optionReader = () => loaded;
