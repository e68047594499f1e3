/**
 * Scratch memory for the results of operations, reused from run to run: allocating a large piece takes longer than clearing a
 * used one.
 */
import { type AnyOperandType, dataConstructor, numbersPerElement, type TensorData } from "@nnhal/operations";

/** Memory that can be reused. */
export interface Scratch {
  /** Returns `count` elements of a type that were given back, not cleared; undefined if there are none of this size. The caller owns them. */
  take(type: AnyOperandType, count: number): TensorData | undefined;
  /** Returns elements for reuse. Nothing may read them afterwards. */
  giveBack(data: TensorData): void;
  /** Drops all memory. */
  clear(): void;
}

/** Allocating fewer elements is faster than looking for them. */
const LEAST_COUNT = 4096;

/** The most bytes kept. Without a limit, a model whose shapes change from run to run would fill the memory with pieces of all sizes. */
const MOST_BYTES = 2 ** 28;

/** Creates scratch memory; it is empty at first. `leastCount`: the least number of elements that it keeps. */
export function createScratch(mostBytes = MOST_BYTES, leastCount = LEAST_COUNT): Scratch {
  /** By typed array and number of elements. */
  const waiting = new Map<string, TensorData[]>();
  let bytes = 0;
  return {
    take(type, count) {
      if (count < leastCount) return undefined;
      const data = waiting.get(`${dataConstructor(type).name} ${count * numbersPerElement(type)}`)?.pop();
      if (data !== undefined) bytes -= data.byteLength;
      return data;
    },
    giveBack(data) {
      if (data.length < leastCount || bytes + data.byteLength > mostBytes) return;
      bytes += data.byteLength;
      const key = `${data.constructor.name} ${data.length}`;
      const pieces = waiting.get(key);
      if (pieces === undefined) waiting.set(key, [data]);
      else pieces.push(data);
    },
    clear() {
      waiting.clear();
      bytes = 0;
    },
  };
}
