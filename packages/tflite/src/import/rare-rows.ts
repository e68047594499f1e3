/** The rare rows. A bundle for a browser has rare-rows.browser.ts in place of this file: see package.json. */
import * as rare from "./rows-rare.ts";

/** The rows of operators that few models have, and of custom ones. */
export const rareRows = () => rare;
