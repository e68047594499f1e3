/**
 * In the build of the page this takes the place of what starts workers in @nnhal/network: the page's own worker computes.
 */

/** Throws: a worker of the worker is not part of the page. */
export function startWorker(): never {
  throw new Error("the page has no further workers");
}
