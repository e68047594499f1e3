/** The reader of FlexBuffers in a browser: only custom operators have any, so it is loaded when a model has some. */
import { byNeed } from "@nnhal/operations";

/** What reads a FlexBuffer. Throws a NotLoadedError if it is not loaded. */
export const flexbuffers = byNeed("the reader of a custom operator's options", () => import("./flexbuffer-values.ts"));
