/** The operations of the extension for .tflite in a browser: few models need them, so they are loaded when one does. */
import { byNeed } from "@nnhal/operations";

/** The operations of the extension. Throws a NotLoadedError if they are not loaded. */
export const extensionOperations = byNeed("the extension nnhal.tflite", async () => {
  const { tfliteExtension } = await import("@nnhal/extension-tflite");
  return tfliteExtension.operations;
});
