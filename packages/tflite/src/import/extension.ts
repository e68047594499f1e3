/**
 * The operations of the extension for .tflite, and the loading of everything that an import may need. A bundle for a browser has
 * extension.browser.ts in place of this file: see package.json.
 */
import { tfliteExtension } from "@nnhal/extension-tflite";
import type { Operation } from "@nnhal/operations";

/** The operations of the extension. */
export function extensionOperations(): readonly Operation[] {
  return tfliteExtension.operations;
}
