/** How stored constants are expanded in a browser: it is loaded when a model has packed or sparse ones. */
import { byNeed } from "@nnhal/operations";

/** What expands the constants of a file. Throws a NotLoadedError if it is not loaded. */
export const expanding = byNeed("the import of packed and sparse constants", () => import("./stored.ts"));
