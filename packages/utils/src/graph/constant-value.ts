/**
 * Small constants as values that a dump can show.
 */
import { byteLength, decodeTensorData, elementCount } from "@nnhal/operations";
import { type Model, type Operand, operandTypeNames, operandTypes } from "@nnhal/types";
import { constantBytes } from "../constant-bytes.ts";

/** A scalar's value, or the elements of a short tensor. */
export type ShownValue = number | boolean | readonly (number | boolean)[];

/** The longest tensor whose elements are shown. */
const mostElements = 8;

/** Types whose elements are shown; a tensor's like those of its scalar type. */
const shownTypes: readonly string[] = ["FLOAT32", "FLOAT16", "INT32", "UINT32", "BOOL", "BOOL8"];

/** The value of a short constant whose bytes are mapped; undefined for any other operand. */
export function constantValue(operand: Operand, model: Model): ShownValue | undefined {
  const type = operandTypeNames.get(operand.type);
  if (type === undefined || !shownTypes.includes(type.replace(/^TENSOR_/, ""))) return undefined;
  const bytes = constantBytes(operand, model);
  const isScalar = operandTypes[type].kind === "scalar";
  const count = isScalar ? 1 : elementCount(operand.dimensions);
  if (bytes === undefined || count > mostElements || count === 0) return undefined;
  if (bytes.length !== byteLength(type, count)) return undefined;
  const isBoolean = type === "BOOL" || type === "TENSOR_BOOL8";
  const values = Array.from(decodeTensorData(type, bytes, count), (value) => (isBoolean ? value !== 0 : value));
  return isScalar ? values[0] : values;
}
