/** The import of rare constants in a browser: it is loaded when a model has packed, sparse or FLOAT16 ones, or a run inputs without elements. */
import { byNeed } from "@nnhal/operations";

/** Expansion of the constants of a file, and of inputs to constants. Throws a NotLoadedError if it is not loaded. */
export const expanding = byNeed("the import of packed and sparse constants", () => import("./rare-constants.ts"));
