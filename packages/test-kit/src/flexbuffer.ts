/** FlexBuffers, such as the options of custom operators of .tflite files. */
import { builder } from "flatbuffers/js/flexbuffers.js";

/**
 * Returns a FlexBuffer with a value, usually a map. The library writes only 4 of the 8 bytes of a float32 in a list or map with wider
 * values: a test must not have both.
 */
export function flexible(value: object): Uint8Array {
  const flex = builder();
  flex.add(value);
  return new Uint8Array(flex.finish());
}
