/**
 * Element types of ONNX: their codes in `TensorProto.DataType`, and the typed arrays of their elements.
 */

/** The codes of the element types that are used here. */
export const elementTypes = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  uint32: 12,
} as const;

/** An element type by the name that onnxruntime uses. */
export type ElementType = keyof typeof elementTypes;

/** Elements as ONNX stores them: little-endian, row-major. */
export type Elements =
  | Float32Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint32Array;

/** The size of an element in bytes. */
export const elementBytes: Readonly<Record<ElementType, number>> = {
  float32: 4,
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  int32: 4,
  int64: 8,
  bool: 1,
  float16: 2,
  uint32: 4,
};
