/** How stored constants are expanded. A bundle for a browser has expanding.browser.ts in place of this file: see package.json. */
import * as stored from "./stored.ts";

/** What expands the constants of a file. */
export const expanding = () => stored;
