/**
 * Modules that are loaded by need: for a model that is not one whole file, for extensions, and for one that cannot run. They are one module,
 * since each name of a part costs a page some bytes, and import nothing: what they imported would be in a bundle for a browser as a part of its
 * own.
 */
export { openExtensions } from "./extensions.ts";
export { readLargeFile, readOutside } from "./outside.ts";
export { readPart } from "./part.ts";
export { refusalOfImport, refusalOfModel } from "./refusal.ts";
