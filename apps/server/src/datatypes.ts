/** The datatypes of the protocol, with the element types of models that they represent. */
import type { ElementArray, ElementType } from "@nnhal/network";
import { elementFacts } from "@nnhal/network/tensors";

/** A datatype whose elements have one size. */
export type NumericDatatype = keyof typeof elementOf;

/** A datatype of the protocol. */
export type Datatype = NumericDatatype | "BYTES";

const elementOf = {
  BOOL: "bool",
  UINT8: "uint8",
  UINT16: "uint16",
  UINT32: "uint32",
  UINT64: "uint64",
  INT8: "int8",
  INT16: "int16",
  INT32: "int32",
  INT64: "int64",
  FP16: "float16",
  FP32: "float32",
  FP64: "float64",
} as const satisfies Record<string, ElementType>;

// The object has no other keys.
const numeric = Object.keys(elementOf) as readonly NumericDatatype[];

/** All datatypes, for messages. */
export const datatypes: readonly Datatype[] = [...numeric, "BYTES"];

/** Returns true if a text is a datatype. */
export function isDatatype(text: unknown): text is Datatype {
  return datatypes.some((one) => one === text);
}

/** Returns the datatype of an element type; undefined for complex numbers, which the protocol does not have. */
export function datatypeOf(type: ElementType): Datatype | undefined {
  return type === "string" ? "BYTES" : numeric.find((one) => elementOf[one] === type);
}

/** Returns the constructor of the array for elements of a datatype: the bits of FP16, and bytes of 0 and 1 for BOOL. */
export function arrayOf(datatype: NumericDatatype): {
  readonly BYTES_PER_ELEMENT: number;
  new (count: number): ElementArray;
  new (buffer: ArrayBufferLike, byteOffset: number, count: number): ElementArray;
} {
  return elementFacts[elementOf[datatype]].array;
}

/** Returns the range of an integer datatype; undefined for floating point. That of 64 bits ends at the largest extent. */
export function rangeOf(datatype: NumericDatatype): readonly [number, number] | undefined {
  return elementFacts[elementOf[datatype]].range;
}
