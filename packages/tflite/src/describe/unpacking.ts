/** Reader of packed files. A bundle for a browser has unpacking.browser.ts in place of this file: see package.json. */
import * as reader from "./archive.ts";

/** Reader of the archive behind a model. */
export const archive = () => reader;
