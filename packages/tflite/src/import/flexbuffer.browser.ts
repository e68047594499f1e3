/** The reader of FlexBuffers in a browser: only custom operators have any, so it is loaded when a model has some. */
import { NotLoadedError } from "@nnhal/operations";

type Read = typeof import("flatbuffers/js/flexbuffers/reference.js").toReference;

let loaded: Read | undefined;

/** Returns what reads a FlexBuffer. Throws a NotLoadedError if it is not loaded. */
export function flexbufferReader(): Read {
  if (loaded !== undefined) return loaded;
  throw new NotLoadedError(
    "the reader of a custom operator's options is not loaded: in a browser, use whenLoaded() of @nnhal/operations",
    async () => {
      loaded = (await import("flatbuffers/js/flexbuffers/reference.js")).toReference;
    },
  );
}
