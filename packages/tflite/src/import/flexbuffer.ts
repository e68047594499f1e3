/** The reader of FlexBuffers. A bundle for a browser has flexbuffer.browser.ts in place of this file: see package.json. */
import * as loaded from "./flexbuffer-values.ts";

/** What reads a FlexBuffer. */
export const flexbuffers = () => loaded;
