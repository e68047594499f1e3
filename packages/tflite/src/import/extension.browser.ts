/** The extension for .tflite in a browser: few models need its operations, so they are loaded when one does. */
import { byNeed } from "@nnhal/operations";

/** Its operations. Throws a NotLoadedError if they are not loaded. */
export const extension = byNeed("the extension nnhal.tflite", () => import("./extension-operations.ts"));
