/** The rare rows in a browser: they are loaded when a model needs one. */
import { NotLoadedError } from "@nnhal/operations";

type RareRows = typeof import("./rows-rare.ts");

let loaded: RareRows | undefined;

/** The rows of operators that few models have, and of custom ones. Throws a NotLoadedError if they are not loaded. */
export function rareRows(): RareRows {
  if (loaded !== undefined) return loaded;
  throw new NotLoadedError(
    "the import of some operators is not loaded: in a browser, use whenLoaded() of @nnhal/operations",
    async () => {
      loaded = await import("./rows-rare.ts");
    },
  );
}
