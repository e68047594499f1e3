/**
 * The operand types of com.example.fibonacci: a 64-bit scalar, and a tensor of quantised 64-bit integers.
 */
import { ensure, extensionTypes } from "@nnhal/operations/authoring";

/** The name of the extension. */
export const name = "com.example.fibonacci";

/** The quantisation of a TENSOR_QUANT64_ASYMM: real value = (element - zeroPoint) * scale. */
export interface Quant64Params {
  readonly scale: number;
  readonly zeroPoint: bigint;
}

/** Bytes of the extension data: `{ double scale; int64 zeroPoint }`, little-endian. */
const paramsLength = 16;

/** INT64 is a scalar; TENSOR_QUANT64_ASYMM is a tensor with `Quant64Params` as its extension data. */
export const { INT64, TENSOR_QUANT64_ASYMM } = extensionTypes(name, {
  INT64: { code: 0, kind: "scalar", array: BigInt64Array },
  TENSOR_QUANT64_ASYMM: {
    code: 1,
    kind: "tensor",
    array: BigInt64Array,
    params: {
      decode({ buffer, byteOffset, length }): Quant64Params {
        ensure(length === paramsLength, () => `expected ${paramsLength} bytes of data, got ${length}`);
        const view = new DataView(buffer, byteOffset, length);
        const scale = view.getFloat64(0, true);
        ensure(scale > 0 && Number.isFinite(scale), () => `the scale: expected a positive number, got ${scale}`);
        return { scale, zeroPoint: view.getBigInt64(8, true) };
      },
      encode({ scale, zeroPoint }: Quant64Params) {
        const view = new DataView(new ArrayBuffer(paramsLength));
        view.setFloat64(0, scale, true);
        view.setBigInt64(8, zeroPoint, true);
        return new Uint8Array(view.buffer);
      },
    },
  },
});
