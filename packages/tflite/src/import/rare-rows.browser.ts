/** The rare rows in a browser: they are loaded when a model needs one. */
import { byNeed } from "@nnhal/operations";

/** The rows of operators that few models have, and of custom ones. Throws a NotLoadedError if they are not loaded. */
export const rareRows = byNeed("the import of an operator", () => import("./rows-rare.ts"));
