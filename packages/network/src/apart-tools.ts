/** Parts of a page that the modules of `apart.ts` are given, since they import nothing. */
import type { problemsOf } from "@nnhal/tflite";
import type { loadModule } from "#platform";
import type { NetworkError } from "./error.ts";
import type { oneLine } from "./text.ts";

/** Parts of the page that modules loaded by need use. */
export interface Tools {
  readonly NetworkError: typeof NetworkError;
  readonly oneLine: typeof oneLine;
  readonly loadModule: typeof loadModule;
  readonly problemsOf: typeof problemsOf;
}
