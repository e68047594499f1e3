/**
 * Small constants as values that a dump can show.
 */
import { fromFloat16Bits } from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, operandTypeNames, operandTypes } from "@nnhal/types";

/** A scalar's value, or the elements of a short tensor. */
export type ShownValue = number | boolean | readonly (number | boolean)[];

/** The longest tensor whose elements are shown. */
const mostElements = 8;

type Read = (view: DataView, offset: number) => number | boolean;

const readers: Readonly<Record<string, Read>> = {
  FLOAT32: (view, offset) => view.getFloat32(offset, true),
  FLOAT16: (view, offset) => fromFloat16Bits(view.getUint16(offset, true)),
  INT32: (view, offset) => view.getInt32(offset, true),
  UINT32: (view, offset) => view.getUint32(offset, true),
  BOOL: (view, offset) => view.getUint8(offset) !== 0,
  BOOL8: (view, offset) => view.getUint8(offset) !== 0,
};

/** The value of a constant that is short and whose bytes are at hand; undefined for any other operand. */
export function constantValue(operand: Operand, model: Model): ShownValue | undefined {
  const type = operandTypeNames.get(operand.type);
  if (type === undefined) return undefined;
  const { kind, elementSize } = operandTypes[type];
  // The elements of a tensor are read as the scalar of its type is.
  const read = readers[type.replace(/^TENSOR_/, "")];
  const bytes = constantBytes(operand, model);
  if (read === undefined || bytes === undefined) return undefined;
  const count = kind === "scalar" ? 1 : operand.dimensions.reduce((product, extent) => product * extent, 1);
  if (count > mostElements || bytes.length !== count * elementSize || count === 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (kind === "scalar") return read(view, 0);
  return Array.from({ length: count }, (_, index) => read(view, index * elementSize));
}

/** A constant's bytes; undefined where they lie in memory that is not mapped, or not where the operand says. */
function constantBytes({ lifetime, location }: Operand, { operandValues, pools }: Model): Uint8Array | undefined {
  const { poolIndex, offset, length } = location;
  if (lifetime === OperandLifeTime.CONSTANT_COPY) return slice(operandValues, offset, length);
  if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return undefined;
  const memory = pools[poolIndex];
  if (memory?.handle?.kind !== "buffer") return undefined;
  const { buffer, byteOffset } = memory.handle;
  if (byteOffset + memory.size > buffer.byteLength) return undefined;
  return slice(new Uint8Array(buffer, byteOffset, memory.size), offset, length);
}

function slice(bytes: Uint8Array, offset: number, length: number): Uint8Array | undefined {
  return offset >= 0 && length >= 0 && offset + length <= bytes.length
    ? bytes.subarray(offset, offset + length)
    : undefined;
}
