/** The extension for .tflite. A bundle for a browser has extension.browser.ts in place of this file: see package.json. */
import * as loaded from "./extension-operations.ts";

/** Its operations. */
export const extension = () => loaded;
