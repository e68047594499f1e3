/**
 * Operand types as definitions and kernels name them: one of the HAL's by its name, one of a vendor's extension by its description.
 */
import { type OperandTypeName, operandTypes } from "@nnhal/types";
import type { ElementFacts } from "./byte-size.ts";

/** Elements of a type of an extension, and of a type of the HAL. */
export type AnyTensorData =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** A constructor of the typed array that holds the elements. */
export interface ExtensionDataConstructor<Data extends AnyTensorData = AnyTensorData> {
  readonly BYTES_PER_ELEMENT: number;
  new (count: number): Data;
  new (buffer: ArrayBufferLike, byteOffset: number, count: number): Data;
}

/** Between the bytes of `Operand.extraParams.extension` and what they mean. */
export interface ExtensionDataCodec<Params = unknown> {
  /** Returns the meaning of the bytes. Throws an OperationError that names the rule that the bytes break. */
  decode(bytes: Uint8Array): Params;
  encode(params: Params): Uint8Array;
}

/** An operand type of a vendor's extension (HAL 1.2 Extension.OperandTypeInformation, and what a driver has to know beside it). */
export interface ExtensionOperandType<Data extends AnyTensorData = AnyTensorData, Params = unknown> {
  /** The extension's name, such as `com.example.fibonacci`. */
  readonly extension: string;
  /** The type's name within the extension, such as `TENSOR_QUANT64_ASYMM`. */
  readonly name: string;
  /** The type's code within the extension: the lower 16 bits of its code in a model. */
  readonly code: number;
  readonly kind: "scalar" | "tensor";
  /** Bytes of one element in a pool: a multiple of the array's element, since an element may be several numbers. */
  readonly elementSize: number;
  /** The typed array that holds elements. */
  readonly array: ExtensionDataConstructor<Data>;
  /** The codec of `extraParams.extension`, which every operand of this type then has. Absent: no operand of this type has any. */
  readonly params?: ExtensionDataCodec<Params> | undefined;
}

/** Any operand type. */
export type AnyOperandType = OperandTypeName | ExtensionOperandType;

/** Returns whether a type belongs to a vendor extension. */
export function isExtensionType(type: AnyOperandType | undefined): type is ExtensionOperandType {
  return typeof type === "object";
}

/** Returns whether two types are the same. Two copies of a package may describe one type by two objects. */
export function isSameType(a: AnyOperandType | undefined, b: AnyOperandType | undefined): boolean {
  if (a === b) return true;
  return isExtensionType(a) && isExtensionType(b) && a.code === b.code && a.extension === b.extension;
}

/** A type's kind, and the bytes of an element. */
export function elementFactsOf(type: AnyOperandType): ElementFacts {
  return isExtensionType(type) ? type : operandTypes[type];
}

/** A type as messages name it: `TENSOR_FLOAT32`, `com.example.fibonacci INT64`. */
export function typeText(type: AnyOperandType): string {
  return isExtensionType(type) ? `${type.extension} ${type.name}` : type;
}

/** The name of one of the HAL's types, for code that knows no others. Throws a TypeError for a type of an extension. */
export function halTypeName(type: AnyOperandType): OperandTypeName {
  if (isExtensionType(type)) throw new TypeError(`${typeText(type)} is not a type of the HAL`);
  return type;
}

/** The numbers in the typed array for each element: 1, except for types of extensions whose elements are several numbers. */
export function numbersPerElement(type: AnyOperandType): number {
  return isExtensionType(type) ? type.elementSize / type.array.BYTES_PER_ELEMENT : 1;
}
