/** The finder of bytes outside of a FlatBuffer, for browsers: it is loaded when a model has some. */
import { byNeed } from "@nnhal/operations";

/** The finder of bytes outside of a FlatBuffer. Throws a NotLoadedError if it is not loaded. */
export const outsides = byNeed("the reader of constants outside of a model", () => import("./outside-reader.ts"));
