/** Computation of operators on constants. A bundle for a browser has folding.browser.ts in place of this file: see package.json. */
import * as fold from "./fold.ts";

/** Computes operators on constants. */
export const folding = () => fold;
