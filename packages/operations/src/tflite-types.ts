/**
 * @nnhal/operations/tflite-types: the name and the operand types of the extension, without its operations: element types of .tflite that
 * the HAL lacks, and how strings are stored. The codes are those of the schema's TensorType.
 */

import { extensionTypes } from "./extension.ts";
import { ensure } from "./fail.ts";

export { decodeStringBytes, decodeStrings, encodeStrings, type StringTensor } from "./tflite-strings.ts";

/** The name of the extension. */
export const extensionName = "nnhal.tflite";

/** The quantisation of a TENSOR_QUANT16_ASYMM_SIGNED: real value = (element - zeroPoint) * scale. */
export interface Quant16Params {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** Bytes of the extension data of a TENSOR_QUANT16_ASYMM_SIGNED: `{ double scale; int32 zeroPoint }`, little-endian. */
const quant16Length = 12;

/**
 * The elements of a TENSOR_STRING of dimensions [...shape, width] are bytes: each string of `shape` is a row of `width` bytes, its length in
 * bytes as a 32-bit integer, little-endian, then its bytes; the rest is not read. See `encodeStrings`.
 *
 * A complex number is two numbers, the real and the imaginary part: the typed array of n elements has 2n numbers. A TENSOR_BOOL of
 * .tflite is a TENSOR_BOOL8 of the HAL, an INT16 one is a TENSOR_QUANT16_SYMM unless it has a zero point, an INT8 or UINT8 one is a quantised type of the HAL; if
 * such a tensor has no quantisation, its scale is 1 and its zero point 0.
 */
export const tfliteTypes = extensionTypes(extensionName, {
  TENSOR_INT64: { code: 4, kind: "tensor", array: BigInt64Array },
  TENSOR_STRING: { code: 5, kind: "tensor", array: Uint8Array },
  TENSOR_QUANT16_ASYMM_SIGNED: {
    code: 7,
    kind: "tensor",
    array: Int16Array,
    params: {
      decode({ buffer, byteOffset, length }): Quant16Params {
        ensure(length === quant16Length, () => `expected ${quant16Length} bytes of data, got ${length}`);
        const view = new DataView(buffer, byteOffset, length);
        const [scale, zeroPoint] = [view.getFloat64(0, true), view.getInt32(8, true)];
        ensure(scale > 0 && Number.isFinite(scale), () => `the scale: expected a positive number, got ${scale}`);
        const isWithin = zeroPoint >= -32768 && zeroPoint <= 32767;
        ensure(isWithin, () => `the zero point: expected an integer within [-32768, 32767], got ${zeroPoint}`);
        return { scale, zeroPoint };
      },
      encode({ scale, zeroPoint }: Quant16Params) {
        const view = new DataView(new ArrayBuffer(quant16Length));
        view.setFloat64(0, scale, true);
        view.setInt32(8, zeroPoint, true);
        return new Uint8Array(view.buffer);
      },
    },
  },
  TENSOR_COMPLEX64: { code: 8, kind: "tensor", array: Float32Array, numbersPerElement: 2 },
  TENSOR_FLOAT64: { code: 10, kind: "tensor", array: Float64Array },
  TENSOR_COMPLEX128: { code: 11, kind: "tensor", array: Float64Array, numbersPerElement: 2 },
  TENSOR_UINT64: { code: 12, kind: "tensor", array: BigUint64Array },
  TENSOR_UINT32: { code: 15, kind: "tensor", array: Uint32Array },
});
