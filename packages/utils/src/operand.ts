/**
 * Questions about operand and operation types: names, sizes and unknown dimensions.
 */
import { operandTypeText, operationText, specifiedByteSize } from "@nnhal/operations";
import {
  OperandTypeRange,
  type OperandTypeRow,
  OperationTypeRange,
  operandTypeNames,
  operandTypes,
} from "@nnhal/types";

/** Sizes above this do not fit in a DataLocation. */
const greatestSize = 0xffff_ffff;

/** Returns whether a code is an operand type of a vendor extension. */
export function isExtensionOperandType(type: number): boolean {
  return type > OperandTypeRange.BASE_MAX && type >>> 0 === type;
}

/** Returns whether a code is an operation of a vendor extension. */
export function isExtensionOperationType(type: number): boolean {
  return type > OperationTypeRange.BASE_MAX && type >>> 0 === type;
}

/** The HAL's name of an operand type, or text with its code. */
export function getOperandTypeName(type: number): string {
  return operandTypeText(type);
}

/** The HAL's name of an operation, or text with its code. */
export function getOperationName(type: number): string {
  return operationText(type);
}

/** Returns whether a type is not a tensor: a scalar, SUBGRAPH or OEM. Throws RangeError for a type outside the HAL. */
export function nonExtensionOperandTypeIsScalar(type: number): boolean {
  return rowOf(type).kind !== "tensor";
}

/**
 * Size in bytes of an operand; 0 if a dimension is not known, and for OEM scalars and SUBGRAPH. Throws RangeError for
 * a type that is not the HAL's own, and for a size that does not fit in 32 bits.
 */
export function nonExtensionOperandSizeOfData(type: number, dimensions: readonly number[]): number {
  const { kind, elementSize } = rowOf(type);
  return kind === "tensor" ? sizeOfTensorData(elementSize, dimensions) : elementSize;
}

/** Returns whether an operand is too large for 32 bits. Throws RangeError for a type outside the HAL. */
export function nonExtensionOperandSizeOfDataOverflowsUInt32(type: number, dimensions: readonly number[]): boolean {
  const { kind, elementSize } = rowOf(type);
  return kind === "tensor" && sizeOfTensorDataOverflowsUInt32(elementSize, dimensions);
}

/** Size in bytes of a tensor; 0 if a dimension is not known. Throws RangeError if it does not fit in 32 bits. */
export function sizeOfTensorData(sizeOfElement: number, dimensions: readonly number[]): number {
  const size = sizeOrInfinity(sizeOfElement, dimensions);
  if (size <= greatestSize) return size;
  throw new RangeError(
    `a tensor of ${dimensions.join("x")} elements of ${sizeOfElement} bytes is larger than ${greatestSize} bytes`,
  );
}

/** Returns whether a tensor is too large for 32 bits. */
export function sizeOfTensorDataOverflowsUInt32(sizeOfElement: number, dimensions: readonly number[]): boolean {
  return sizeOrInfinity(sizeOfElement, dimensions) > greatestSize;
}

/** Bytes of a tensor; 0 if an extent is not known, Infinity if the size is beyond the numbers. */
function sizeOrInfinity(elementSize: number, dimensions: readonly number[]): number {
  return specifiedByteSize({ kind: "tensor", elementSize }, dimensions) ?? 0;
}

/**
 * Returns whether some dimension of a tensor is unknown: an extent is 0, or there are no extents. False for scalars. An
 * extension's type without dimensions counts as a scalar, because only the extension knows.
 */
export function tensorHasUnspecifiedDimensions(type: number, dimensions: readonly number[]): boolean {
  if (dimensions.length > 0) return dimensions.includes(0);
  return !isExtensionOperandType(type) && !nonExtensionOperandTypeIsScalar(type);
}

/**
 * The number of bytes to leave free at `index` so that data of `length` bytes is aligned: to 2 from 2 bytes, to 4
 * from 4.
 */
export function alignBytesNeeded(index: number, length: number): number {
  if (length < 2) return 0;
  const alignment = length < 4 ? 2 : 4;
  return (alignment - (index % alignment)) % alignment;
}

function rowOf(type: number): OperandTypeRow {
  const name = operandTypeNames.get(type);
  if (name === undefined) throw new RangeError(`${getOperandTypeName(type)} is not one of the HAL's own types`);
  return operandTypes[name];
}
