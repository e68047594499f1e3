/**
 * The operand types of the extension: element types of .tflite that the HAL lacks. Their codes are those of the schema's TensorType.
 */
import { extensionTypes } from "@nnhal/operations/authoring";

/** The name of the extension. */
export const name = "nnhal.tflite";

/**
 * A complex number is two numbers, the real and the imaginary part: the typed array of n elements has 2n numbers. A TENSOR_BOOL of
 * .tflite is a TENSOR_BOOL8 of the HAL, an INT16 one is a TENSOR_QUANT16_SYMM, an INT8 or UINT8 one is a quantised type of the HAL; if
 * such a tensor has no quantisation, its scale is 1 and its zero point 0.
 */
export const tfliteTypes = extensionTypes(name, {
  TENSOR_INT64: { code: 4, kind: "tensor", array: BigInt64Array },
  TENSOR_COMPLEX64: { code: 8, kind: "tensor", array: Float32Array, numbersPerElement: 2 },
  TENSOR_FLOAT64: { code: 10, kind: "tensor", array: Float64Array },
  TENSOR_COMPLEX128: { code: 11, kind: "tensor", array: Float64Array, numbersPerElement: 2 },
  TENSOR_UINT64: { code: 12, kind: "tensor", array: BigUint64Array },
  TENSOR_UINT32: { code: 15, kind: "tensor", array: Uint32Array },
});
