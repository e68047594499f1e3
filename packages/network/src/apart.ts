/** Modules that are loaded by need, for a model that is not one whole file: one module of two, since each name of a part costs a page some bytes. */
export { readLargeFile, readOutside } from "./outside.ts";
export { readPart } from "./part.ts";
