/** What unpacks compressed files. A bundle for a browser has inflater.browser.ts in place of this file: see package.json. */
import { Inflate } from "fflate";

/** Returns the class of streams that unpack. */
export const inflater = () => Inflate;
