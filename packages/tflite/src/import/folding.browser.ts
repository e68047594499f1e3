/** Computation of operators on constants in a browser: it is loaded when a model has one. */
import { byNeed } from "@nnhal/operations";

/** Computes operators on constants. Throws a NotLoadedError if it is not loaded. */
export const folding = byNeed("the computation of an operator on constants", () => import("./fold.ts"));
