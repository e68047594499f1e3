/** The operations of the extension for .tflite in a browser: few models need them, so they are loaded when one does. */
import { NotLoadedError, type Operation } from "@nnhal/operations";

let loaded: readonly Operation[] | undefined;

/** The operations of the extension. Throws a NotLoadedError if they are not loaded. */
export function extensionOperations(): readonly Operation[] {
  if (loaded !== undefined) return loaded;
  throw new NotLoadedError(
    "the extension nnhal.tflite is not loaded: in a browser, use whenLoaded() of @nnhal/operations",
    loadExtension,
  );
}

async function loadExtension(): Promise<void> {
  const { tfliteExtension } = await import("@nnhal/extension-tflite");
  loaded = tfliteExtension.operations;
}
