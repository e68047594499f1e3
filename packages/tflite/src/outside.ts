/**
 * Bytes of a model that lie outside those of its FlatBuffer: in other files, which the schema calls groups of external buffers, or behind the
 * part of a large file that was read.
 */
import { fileArgument, type TfliteBytes } from "./arguments.ts";
import { openSource } from "./flatbuffer/source.ts";
import { outsides } from "./outsides.ts";
import type { TfliteNeeds } from "./ranges.ts";
import { readRoot } from "./root.ts";

/**
 * Returns the ranges of a model that must be read besides `bytes`, the file or its start. `size`: the bytes of the whole file.
 *
 * @throws TfliteError if the bytes are not a .tflite file, or are broken. In a browser: a NotLoadedError, see whenLoaded of
 *   `@nnhal/operations`.
 */
export function tfliteNeeds(bytes: TfliteBytes, size?: number): TfliteNeeds {
  const file = fileArgument(bytes, "tfliteNeeds");
  return outsides().needsOf(file, Math.max(size ?? 0, file.length), (beyond) => readRoot(openSource(file, beyond)));
}

/** Where the table of a model says whether it has the last of its fields, the external buffers. */
const LAST_FIELD = 22;

/** Returns true if the model in a file has external buffers: constants in other files. False for bytes that are not a .tflite file. */
export function hasExternalBuffers(bytes: Uint8Array): boolean {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const root = view.getUint32(0, true);
    const vtable = root - view.getInt32(root, true);
    return view.getUint16(vtable, true) > LAST_FIELD && view.getUint16(vtable + LAST_FIELD, true) > 0;
  } catch {
    // The view ends before that.
    return false;
  }
}
