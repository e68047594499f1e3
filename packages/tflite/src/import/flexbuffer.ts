/** The reader of FlexBuffers. A bundle for a browser has flexbuffer.browser.ts in place of this file: see package.json. */
import { toReference } from "flatbuffers/js/flexbuffers/reference.js";

/** Returns what reads a FlexBuffer. */
export const flexbufferReader = () => toReference;
