/** What unpacks compressed files in a browser: it is loaded when a model has one. */
import { byNeed } from "@nnhal/operations";

/** Returns the class of streams that unpack. Throws a NotLoadedError if it is not loaded. */
export const inflater = byNeed("the reader of files that are packed with a model", async () => {
  const { Inflate } = await import("fflate");
  return Inflate;
});
