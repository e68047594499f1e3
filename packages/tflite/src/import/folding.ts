/** How operators on constants are computed. A bundle for a browser has folding.browser.ts in place of this file: see package.json. */
import * as fold from "./fold.ts";

/** What computes operators on constants. */
export const folding = () => fold;
