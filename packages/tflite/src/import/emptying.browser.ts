/** The import for inputs without elements in a browser: few executions have any, so it is loaded for one that does. */
import { byNeed } from "@nnhal/operations";

/** What makes inputs constants without elements. Throws a NotLoadedError if it is not loaded. */
export const emptying = byNeed("the import for inputs without elements", () => import("./empty-inputs.ts"));
