/**
 * Tensors as kernels see them: the facts of an operand, and its elements in the typed array of its type. Scalars are
 * tensors of rank 0 with one element.
 */
import type { SymmPerChannelQuantParams } from "@nnhal/types";
import {
  type AnyOperandType,
  type AnyTensorData,
  elementFactsOf,
  isExtensionType,
  numbersPerElement,
  typeText,
} from "./operand-type.ts";

/**
 * Elements of a tensor, row-major and packed. Those of an extension's type may also be a BigInt64Array or BigUint64Array: a kernel sees
 * them by the type of its parameter, and all other code copies them only. See `wide`.
 */
export type TensorData =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array
  | Int8Array
  | Int16Array
  | Uint16Array;

/** The facts of an operand without its elements. */
export interface TensorInfo {
  readonly type: AnyOperandType;
  /** Extents. Before shapes are inferred 0 is an unknown extent and [] of a tensor an unknown rank; afterwards 0 is 0. */
  readonly dimensions: readonly number[];
  /** 0 if the type has none. */
  readonly scale: number;
  /** 0 if the type has none. */
  readonly zeroPoint: number;
  /** Set exactly for TENSOR_QUANT8_SYMM_PER_CHANNEL. */
  readonly channelQuant?: SymmPerChannelQuantParams;
  /** The meaning of `extraParams.extension`, as the codec of the type returns it. Set exactly for types of extensions with a codec. */
  readonly params?: unknown;
}

/** The facts of an operand with another shape, and another quantisation if it is given; without elements or other properties. */
export function tensorInfo(
  operand: TensorInfo,
  dimensions: readonly number[],
  scale = operand.scale,
  zeroPoint = operand.zeroPoint,
): TensorInfo {
  const { type, channelQuant, params } = operand;
  // Made for each tensor of each run: most have neither.
  if (channelQuant === undefined && params === undefined) return { type, dimensions, scale, zeroPoint };
  return {
    type,
    dimensions,
    scale,
    zeroPoint,
    ...(channelQuant && { channelQuant }),
    ...(params !== undefined && { params }),
  };
}

/** An operand with its elements. */
export interface Tensor<Data extends AnyTensorData = TensorData> extends TensorInfo {
  /**
   * FLOAT32 and FLOAT16: Float32Array (a float16 value is exact in it). INT32: Int32Array. UINT32, and SUBGRAPH with
   * the subgraph's index: Uint32Array.
   * QUANT8_ASYMM, BOOL: Uint8Array. The other 8-bit types: Int8Array. QUANT16_SYMM: Int16Array. QUANT16_ASYMM: Uint16Array.
   */
  readonly data: Data;
}

/** An operand that a kernel writes. Its dimensions and data are final unless the operation is `dynamic`: see `resize`. */
export interface OutputTensor<Data extends AnyTensorData = TensorData> extends TensorInfo {
  dimensions: readonly number[];
  data: Data;
}

/** Product of the extents; 1 for rank 0. */
export function elementCount(dimensions: readonly number[]): number {
  let count = 1;
  for (let axis = 0; axis < dimensions.length; axis++) count *= dimensions[axis];
  return count;
}

/** Returns the byte length of the typed array for a value of a type with these dimensions, all of them known. */
export function heldBytes({ type, dimensions }: Pick<TensorInfo, "type" | "dimensions">): number {
  return dataConstructor(type).BYTES_PER_ELEMENT * numbersPerElement(type) * elementCount(dimensions);
}

/** Allocates zeroed elements for a type. A TENSOR_FLOAT16 is held as float32: see `Tensor.data`. */
export function createData(type: AnyOperandType, count: number): TensorData {
  const Data = dataConstructor(type);
  return new Data(count * numbersPerElement(type));
}

/** The typed arrays, as far as they are alike. */
interface DataConstructor {
  readonly BYTES_PER_ELEMENT: number;
  new (count: number): TensorData;
  new (buffer: ArrayBufferLike, byteOffset: number, count: number): TensorData;
}

/** The typed array that holds the elements of a type: see `Tensor.data`. */
export function dataConstructor(type: AnyOperandType): DataConstructor {
  // Kernels of the HAL's operations never get such a type; the extension's own know which array it is.
  if (isExtensionType(type)) return type.array as DataConstructor;
  switch (type) {
    case "FLOAT32":
    case "TENSOR_FLOAT32":
    case "FLOAT16":
    case "TENSOR_FLOAT16":
      return Float32Array;
    case "INT32":
    case "TENSOR_INT32":
      return Int32Array;
    case "UINT32":
    case "SUBGRAPH":
      return Uint32Array;
    case "TENSOR_QUANT16_SYMM":
      return Int16Array;
    case "TENSOR_QUANT16_ASYMM":
      return Uint16Array;
    case "TENSOR_QUANT8_SYMM":
    case "TENSOR_QUANT8_SYMM_PER_CHANNEL":
    case "TENSOR_QUANT8_ASYMM_SIGNED":
      return Int8Array;
    case "TENSOR_QUANT8_ASYMM":
    case "BOOL":
    case "TENSOR_BOOL8":
    case "TENSOR_OEM_BYTE":
    case "OEM":
      return Uint8Array;
  }
}

/** Sets an output's shape and allocates zeroed elements; for kernels of `dynamic` operations, which determine shapes themselves. */
export function resize(output: OutputTensor<AnyTensorData>, dimensions: readonly number[]): void {
  output.dimensions = dimensions;
  output.data = createData(output.type, elementCount(dimensions));
}

/** Returns whether elements are IEEE floats of 16 or 32 bits. */
export function isFloat(type: AnyOperandType): boolean {
  return type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16" || type === "FLOAT32" || type === "FLOAT16";
}

/** Returns whether elements are 8-bit integers with scale and zero point. */
export function isQuant8(type: AnyOperandType): boolean {
  return type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_QUANT8_ASYMM_SIGNED";
}

/** Least and greatest value that an element of an integer type can hold. */
export function integerRange(type: AnyOperandType): readonly [least: number, greatest: number] {
  switch (type) {
    case "TENSOR_QUANT8_ASYMM":
      return [0, 255];
    case "TENSOR_QUANT8_ASYMM_SIGNED":
    case "TENSOR_QUANT8_SYMM":
    case "TENSOR_QUANT8_SYMM_PER_CHANNEL":
      return [-128, 127];
    case "TENSOR_QUANT16_SYMM":
      return [-32768, 32767];
    case "TENSOR_QUANT16_ASYMM":
      return [0, 65535];
    case "BOOL":
    case "TENSOR_BOOL8":
      return [0, 1];
    case "UINT32":
      return [0, 0xffff_ffff];
    case "INT32":
    case "TENSOR_INT32":
      return [-0x8000_0000, 0x7fff_ffff];
    default:
      throw new TypeError(`${typeText(type)} is not an integer type`);
  }
}

/** Returns whether a type is a tensor type. */
export function isTensorType(type: AnyOperandType): boolean {
  return elementFactsOf(type).kind === "tensor";
}
