/**
 * Places: where the values of a model's operands lie while a plan runs.
 */
import type { Memory, Request, RequestArgument, RequestMemoryPool } from "@nnhal/types";

/** Where a value lies, and its extents as far as they are known. */
export interface Place {
  readonly memory: Memory;
  /** Bytes from the start of the memory. */
  readonly offset: number;
  /** Bytes. */
  readonly length: number;
  readonly dimensions: readonly number[];
}

/** By operand of a model; undefined for what is omitted or has no value yet. */
export type Places = (Place | undefined)[];

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

/** The request whose arguments lie at some places; every memory becomes one pool. */
export function requestOf(inputs: readonly (Place | undefined)[], outputs: readonly (Place | undefined)[]): Request {
  const pools: RequestMemoryPool[] = [];
  const indexes = new Map<Memory, number>();
  const argument = (place: Place | undefined): RequestArgument => {
    if (place === undefined) return { hasNoValue: true, location: nowhere, dimensions: [] };
    const { memory, offset, length, dimensions } = place;
    let poolIndex = indexes.get(memory);
    if (poolIndex === undefined) {
      poolIndex = pools.push({ kind: "memory", memory }) - 1;
      indexes.set(memory, poolIndex);
    }
    return { hasNoValue: false, location: { poolIndex, offset, length }, dimensions };
  };
  return { inputs: inputs.map(argument), outputs: outputs.map(argument), pools };
}
