/** Reader of the options of custom operators in a browser: few models have any, so it is loaded when one does. */
import { byNeed } from "@nnhal/operations";

/** Reader of the options of custom operators. Throws a NotLoadedError if it is not loaded. */
export const optionReader = byNeed("the reader of a custom operator's options", () => import("./custom-options.ts"));
