/**
 * The bytes of constants.
 */
import { type Model, type Operand, OperandLifeTime } from "@nnhal/types";

/**
 * The bytes of a constant; undefined for other operands, for memory that is not mapped, and for a location outside
 * its pool.
 */
export function constantBytes(
  { lifetime, location }: Operand,
  { operandValues, pools }: Model,
): Uint8Array | undefined {
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
