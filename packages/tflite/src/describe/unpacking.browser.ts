/** Reader of packed files in a browser: it is loaded when a model has some. */
import { byNeed } from "@nnhal/operations";

/** Reader of the archive behind a model. Throws a NotLoadedError if it is not loaded. */
export const archive = byNeed("the reader of files that are packed with a model", () => import("./archive.ts"));
