/**
 * The constants of a model under construction: short values are copied, longer ones are referred to.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import { type DataLocation, type Memory, OperandLifeTime } from "@nnhal/types";

/** Values up to this many bytes are copied into the model; the bytes of longer values must not change while the model lives. */
export const MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES = 128;

/** The location and the lifetime of a constant. */
export interface ConstantPlace {
  readonly lifetime: number;
  readonly location: DataLocation;
}

/** See the file's head. */
export interface Constants {
  readonly pools: readonly Memory[];
  add(bytes: Uint8Array): ConstantPlace;
  /** A part of a memory; each memory becomes one pool. */
  refer(memory: Memory, offset: number, length: number): ConstantPlace;
  /** All copied values. */
  operandValues(): Uint8Array;
}

/** No constants. */
export function createConstants(): Constants {
  const copied: Uint8Array[] = [];
  let copiedLength = 0;
  const pools: Memory[] = [];
  const poolIndexes = new Map<Memory, number>();
  const refer = (memory: Memory, offset: number, length: number): ConstantPlace => {
    let poolIndex = poolIndexes.get(memory);
    if (poolIndex === undefined) {
      poolIndex = pools.push(memory) - 1;
      poolIndexes.set(memory, poolIndex);
    }
    return { lifetime: OperandLifeTime.CONSTANT_REFERENCE, location: { poolIndex, offset, length } };
  };
  return {
    pools,
    refer,
    add(bytes) {
      const { length } = bytes;
      if (length > MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES) return refer(memoryOf(bytes), 0, length);
      // Every value starts at a multiple of 4, so that a driver can view it as any element type.
      const offset = copiedLength;
      const padded = new Uint8Array(Math.ceil(length / 4) * 4);
      padded.set(bytes);
      copied.push(padded);
      copiedLength += padded.length;
      return { lifetime: OperandLifeTime.CONSTANT_COPY, location: { poolIndex: 0, offset, length } };
    },
    operandValues() {
      const values = new Uint8Array(copiedLength);
      let offset = 0;
      for (const bytes of copied) {
        values.set(bytes, offset);
        offset += bytes.length;
      }
      return values;
    },
  };
}
