/** FlexBuffers, such as the options of custom operators of .tflite files. */
import { builder } from "flatbuffers/js/flexbuffers.js";

/**
 * A FlexBuffer with a value, mostly a map. The library writes a number that is a float32 beside wider values of one list or map as 4 bytes of 8: a
 * test must not have both.
 */
export function flexible(value: object): Uint8Array {
  const flex = builder();
  flex.add(value);
  return new Uint8Array(flex.finish());
}
