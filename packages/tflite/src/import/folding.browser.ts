/** How operators on constants are computed in a browser: it is loaded when a model has one. */
import { byNeed } from "@nnhal/operations";

/** What computes operators on constants. Throws a NotLoadedError if it is not loaded. */
export const folding = byNeed("the computation of an operator on constants", () => import("./fold.ts"));
