/**
 * Places of the values of a model's operands while a plan runs.
 */
import type { IBuffer, Memory, Request, RequestArgument, RequestMemoryPool } from "@nnhal/types";

/** The place of a value, and its extents as far as they are known. */
export interface Place {
  /** A memory, or a buffer of the one device that uses the value. */
  readonly pool: RequestMemoryPool;
  /** Bytes from the start of the memory. */
  readonly offset: number;
  /** Bytes. 0 in a device's buffer, which holds the value as a whole. */
  readonly length: number;
  readonly dimensions: readonly number[];
  /** The device's buffer, through which the runtime reads and writes the value; absent if only the caller has it. */
  readonly buffer?: IBuffer;
}

/** By operand of a model; undefined for an operand that is omitted or has no value yet. */
export type Places = readonly (Place | undefined)[];

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

/** A memory as the pool of a request. */
export function poolOf(memory: Memory): RequestMemoryPool {
  return { kind: "memory", memory };
}

/** The request with its arguments at some places. Every memory and every buffer becomes one pool. */
export function requestOf(inputs: Places, outputs: Places): Request {
  const pools: RequestMemoryPool[] = [];
  const indexes = new Map<Memory | number, number>();
  const argument = (place: Place | undefined): RequestArgument => {
    if (place === undefined) return { hasNoValue: true, location: nowhere, dimensions: [] };
    const { pool, offset, length, dimensions } = place;
    const key = pool.kind === "memory" ? pool.memory : pool.token;
    let poolIndex = indexes.get(key);
    if (poolIndex === undefined) {
      poolIndex = pools.push(pool) - 1;
      indexes.set(key, poolIndex);
    }
    return { hasNoValue: false, location: { poolIndex, offset, length }, dimensions };
  };
  return { inputs: inputs.map(argument), outputs: outputs.map(argument), pools };
}
