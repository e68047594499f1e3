/**
 * Modules that are loaded by need: for a model that is not one whole file, for extensions, for one that cannot run, and for comparisons. They are one module,
 * since each name of a part costs a page some bytes, and import nothing: what they imported would be in a bundle for a browser as a part of its
 * own.
 */
export { diffLoaded } from "./diff-request.ts";
export { diffSession } from "./diff-session.ts";
export { openExtensions } from "./extensions.ts";
export { readLargeFile, readOutside } from "./outside.ts";
export { readPart } from "./part.ts";
export { refusalOfImport, refusalOfModel } from "./refusal.ts";
