/** The reader of FlexBuffers in a browser: only custom operators have any, so it is loaded when a model has some. */
import { byNeed } from "@nnhal/operations";

/** Returns what reads a FlexBuffer. Throws a NotLoadedError if it is not loaded. */
export const flexbufferReader = byNeed("the reader of a custom operator's options", async () => {
  const { toReference } = await import("flatbuffers/js/flexbuffers/reference.js");
  return toReference;
});
