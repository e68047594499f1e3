/**
 * Browsers decode beside the calling thread by themselves.
 */

/** Leaves the picture to the decoders of the browser. */
export async function decodeApart(): Promise<undefined> {
  return undefined;
}
