/**
 * The values of a caller's arrays, for a burst whose service is in another process: they pass through memory that both processes
 * share, since queues carry no values.
 */
import { mapMemory } from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import type { Memory, Request, RequestArgument, RequestMemoryPool } from "@nnhal/types";

/** A request whose arrays have a place in shared memory. */
export interface StagedRequest {
  readonly request: Request;
  /** Copies the outputs to the arrays, after an execution that has written them. */
  finish(): void;
}

/** See the file's head. One request at a time. */
export interface BurstStage {
  /** The shared memory; undefined before the first request. */
  readonly memory: Memory | undefined;
  /** Places the arrays of a request, and copies inputs. Undefined if there are none, or if there is no memory for them. */
  enter(request: Request, isArray: (memory: Memory) => boolean): StagedRequest | undefined;
  /** Uses other memory from now on: a request that was given up may still use this. */
  leave(): void;
}

/** Values begin at multiples of this. */
const alignment = 64;
/** Bytes of the first memory. */
const leastSize = 4096;

/** A stage without memory. `allocate`: makes shared memory, or throws. `onUnused`: called for memory that is not used any more. */
export function createBurstStage(allocate: (size: number) => Memory, onUnused: (memory: Memory) => void): BurstStage {
  let memory: Memory | undefined;
  let bytes: Uint8Array = new Uint8Array(0);

  const leave = () => {
    if (memory !== undefined) onUnused(memory);
    memory = undefined;
    bytes = new Uint8Array(0);
  };
  /** Memory of a size at least; undefined if there is none. */
  const ensure = (size: number): Memory | undefined => {
    if (memory !== undefined && size <= bytes.length) return memory;
    leave();
    try {
      const made = allocate(Math.max(leastSize, 2 ** Math.ceil(Math.log2(size))));
      const mapped = mapMemory(made);
      if ("unmappable" in mapped || mapped.length < size) return undefined;
      memory = made;
      bytes = mapped;
    } catch {
      // The request goes an ordinary way, which copies.
    }
    return memory;
  };

  return {
    get memory() {
      return memory;
    },
    enter({ inputs, outputs, pools }, isArray) {
      const arrays = pools.map((pool) =>
        pool.kind === "memory" && isArray(pool.memory) ? bytesOf(pool.memory) : undefined,
      );
      const arrayOf = ({ hasNoValue, location }: RequestArgument) =>
        hasNoValue ? undefined : arrays[location.poolIndex];
      let size = 0;
      for (const argument of [...inputs, ...outputs]) {
        if (arrayOf(argument) !== undefined) size += align(argument.location.length);
      }
      if (size === 0) return undefined;
      const shared = ensure(size);
      if (shared === undefined) return undefined;
      /** The index of each pool in the new request. */
      const indexes: number[] = [];
      const others: RequestMemoryPool[] = [{ kind: "memory", memory: shared }];
      for (const [index, pool] of pools.entries())
        indexes.push(arrays[index] === undefined ? others.push(pool) - 1 : 0);
      let end = 0;
      const placed = (
        argument: RequestArgument,
        use: (array: Uint8Array, place: Uint8Array) => void,
      ): RequestArgument => {
        const { hasNoValue, location } = argument;
        if (hasNoValue) return argument;
        const array = arrayOf(argument);
        const { poolIndex, offset, length } = location;
        if (array === undefined)
          return { ...argument, location: { ...location, poolIndex: elementAt(indexes, poolIndex) } };
        const start = end;
        end += align(length);
        use(array.subarray(offset, offset + length), bytes.subarray(start, start + length));
        return { ...argument, location: { poolIndex: 0, offset: start, length } };
      };
      const results: (() => void)[] = [];
      const request: Request = {
        inputs: inputs.map((argument) => placed(argument, (array, place) => place.set(array))),
        outputs: outputs.map((argument) => placed(argument, (array, place) => results.push(() => array.set(place)))),
        pools: others,
      };
      return {
        request,
        finish() {
          for (const copy of results) copy();
        },
      };
    },
    leave,
  };
}

function align(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

function bytesOf(memory: Memory): Uint8Array | undefined {
  const bytes = mapMemory(memory);
  return "unmappable" in bytes ? undefined : bytes;
}
