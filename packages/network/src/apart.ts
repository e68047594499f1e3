/** What is loaded by need of a model that is not one whole file: two modules in one, since each name of a part costs a page some bytes. */
export { readLargeFile, readOutside } from "./outside.ts";
export { readPart } from "./part.ts";
