/** V8's flag that lets it join vectors: see `wide.ts`, which is loaded only if it is wanted. */
export const wideFlag = "--experimental-wasm-revectorize";

/** Returns whether a command line sets the flag. */
export function setsWideFlag(given: readonly string[]): boolean {
  return given.some((each) => each.replaceAll("_", "-") === wideFlag);
}
