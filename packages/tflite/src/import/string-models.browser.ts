/** The import of models with strings in a browser: few models have any, so it is loaded when one does. */
import { byNeed } from "@nnhal/operations";

/** Import of strings. Throws a NotLoadedError if it is not loaded. */
export const strings = byNeed("the import of models with strings", () => import("./strings.ts"));
