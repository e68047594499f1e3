/**
 * Element types of tensors, the arrays that hold them, and their real values. Names are those of .tflite in lower case.
 */
import {
  type AnyOperandType,
  clamp,
  fromFloat16Bits,
  isExtensionType,
  roundHalfAway,
  toFloat16Bits,
} from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";

/** An array of elements as a model has them. */
export type ElementArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** An array of real numbers. */
export type NumberArray = Exclude<ElementArray, BigInt64Array | BigUint64Array>;

/** The typed arrays, as far as they are alike. */
export interface ArrayOf<Data> {
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
  new (count: number): Data;
  new (buffer: ArrayBufferLike, byteOffset: number, count: number): Data;
}

interface Facts {
  /** The array of elements: their bits for float16. */
  readonly array: ArrayOf<ElementArray>;
  /** The array of real numbers, if the tensor is not quantised. */
  readonly numbers: ArrayOf<NumberArray>;
  /** Numbers in an element. Default: 1. */
  readonly parts?: number;
  /** The range of integers. */
  readonly range?: readonly [number, number];
  /** The type of the HAL, if it has it. */
  readonly hal?: OperandTypeName;
}

const facts = {
  float32: { array: Float32Array, numbers: Float32Array, hal: "TENSOR_FLOAT32" },
  float16: { array: Uint16Array, numbers: Float32Array, hal: "TENSOR_FLOAT16" },
  float64: { array: Float64Array, numbers: Float64Array },
  int8: { array: Int8Array, numbers: Int8Array, range: [-128, 127], hal: "TENSOR_QUANT8_ASYMM_SIGNED" },
  uint8: { array: Uint8Array, numbers: Uint8Array, range: [0, 255], hal: "TENSOR_QUANT8_ASYMM" },
  int16: { array: Int16Array, numbers: Int16Array, range: [-32768, 32767], hal: "TENSOR_QUANT16_SYMM" },
  uint16: { array: Uint16Array, numbers: Uint16Array, range: [0, 65535], hal: "TENSOR_QUANT16_ASYMM" },
  int32: { array: Int32Array, numbers: Int32Array, range: [-(2 ** 31), 2 ** 31 - 1], hal: "TENSOR_INT32" },
  uint32: { array: Uint32Array, numbers: Uint32Array, range: [0, 2 ** 32 - 1] },
  int64: { array: BigInt64Array, numbers: Float64Array, range: [-(2 ** 63), 2 ** 63] },
  uint64: { array: BigUint64Array, numbers: Float64Array, range: [0, 2 ** 64] },
  bool: { array: Uint8Array, numbers: Uint8Array, range: [0, 1], hal: "TENSOR_BOOL8" },
  complex64: { array: Float32Array, numbers: Float32Array, parts: 2 },
  complex128: { array: Float64Array, numbers: Float64Array, parts: 2 },
} as const satisfies Record<string, Facts>;

/** An element type whose elements are numbers. */
export type NumericType = keyof typeof facts;

/** An element type. */
export type ElementType = NumericType | "string";

/** The facts of an element type. */
export const elementFacts: Readonly<Record<NumericType, Facts>> = facts;

/** Quantisation of real numbers as integers: real = (element - zeroPoint) * scale. */
export interface Quantization {
  readonly scale: number;
  readonly zeroPoint: number;
}

// The keys of an object are all there are.
const names = Object.keys(facts) as readonly NumericType[];

/** The element type of an operand type; undefined for a type that has no elements of one kind, such as a custom one. */
export function elementTypeOf(type: AnyOperandType): NumericType | undefined {
  if (type === "TENSOR_QUANT8_SYMM") return "int8";
  if (!isExtensionType(type)) return names.find((name) => elementFacts[name].hal === type);
  const parts = type.elementSize / type.array.BYTES_PER_ELEMENT;
  return names.find((name) => {
    const { array, parts: own = 1 } = elementFacts[name];
    return name !== "bool" && name !== "float16" && parts === own && isArray(type.array, array);
  });
}

function isArray(one: unknown, other: unknown): boolean {
  return one === other;
}

/** Bytes of some elements. */
export function byteLengthOf(type: NumericType, count: number): number {
  const { array, parts = 1 } = elementFacts[type];
  return array.BYTES_PER_ELEMENT * parts * count;
}

/** The elements that lie in bytes: a view if their place allows it. */
export function elementsIn(type: NumericType, bytes: Uint8Array): ElementArray {
  const { array } = elementFacts[type];
  const at = bytes.byteOffset % array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new array(at.buffer, at.byteOffset, at.byteLength / array.BYTES_PER_ELEMENT);
}

/** True if real values differ from the elements themselves. Tensors without quantisation have scale 1 and zero point 0. */
export function isQuantized(quantization: Quantization | undefined): quantization is Quantization {
  return quantization !== undefined && (quantization.scale !== 1 || quantization.zeroPoint !== 0);
}

/** The array that holds the real values of a tensor. */
export function realArrayOf(type: NumericType, quantization: Quantization | undefined): ArrayOf<NumberArray> {
  return isQuantized(quantization) ? Float32Array : elementFacts[type].numbers;
}

/** The real values of elements, in an array of `realArrayOf`: the elements themselves if they are real values. */
export function realValuesIn(
  type: NumericType,
  quantization: Quantization | undefined,
  bytes: Uint8Array,
): NumberArray {
  const elements = elementsIn(type, bytes);
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array)
    return Float64Array.from(elements, Number);
  if (type === "float16") return Float32Array.from(elements, fromFloat16Bits);
  if (!isQuantized(quantization)) return elements;
  const { scale, zeroPoint } = quantization;
  return Float32Array.from(elements, (element) => (element - zeroPoint) * scale);
}

/**
 * The elements of real values. Quantised values are rounded to nearest, ties away from zero, and saturate. Throws a RangeError for a
 * value that the type cannot hold.
 */
export function elementsOfReal(
  type: NumericType,
  quantization: Quantization | undefined,
  values: ArrayLike<number | bigint | boolean>,
): ElementArray {
  const { array, range } = elementFacts[type];
  const elements = new array(values.length);
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    for (let index = 0; index < values.length; index++) elements[index] = bigintOf(type, values[index] ?? 0);
    return elements;
  }
  const elementOf = converter(type, quantization, range);
  for (let index = 0; index < values.length; index++) elements[index] = elementOf(Number(values[index]));
  return elements;
}

function converter(
  type: NumericType,
  quantization: Quantization | undefined,
  range: readonly [number, number] | undefined,
): (value: number) => number {
  if (range === undefined) return type === "float16" ? toFloat16Bits : (value) => value;
  const [least, greatest] = range;
  if (!isQuantized(quantization)) {
    return (value) => {
      if (Number.isInteger(value) && value >= least && value <= greatest) return value;
      throw new RangeError(`expected an integer from ${least} to ${greatest}, got ${value}`);
    };
  }
  const { scale, zeroPoint } = quantization;
  return (value) => {
    if (Number.isNaN(value)) throw new RangeError("NaN has no quantised value");
    return clamp(roundHalfAway(value / scale) + zeroPoint, least, greatest);
  };
}

function bigintOf(type: NumericType, value: number | bigint | boolean): bigint {
  if (typeof value === "number" && !Number.isInteger(value)) throw new RangeError(`expected an integer, got ${value}`);
  const whole = BigInt(value);
  const held = type === "int64" ? BigInt.asIntN(64, whole) : BigInt.asUintN(64, whole);
  if (held !== whole) throw new RangeError(`${value} does not fit ${type}`);
  return whole;
}
