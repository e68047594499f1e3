/** The finder of bytes outside of a FlatBuffer. A bundle for a browser has outsides.browser.ts in place of this file: see package.json. */
import * as loaded from "./outside-reader.ts";

/** The finder of bytes outside of a FlatBuffer. */
export const outsides = () => loaded;
