/**
 * Memory for what operations hand to one another, used again from run to run: the system takes longer to provide and clear large
 * pieces than it takes to clear them again here.
 */
import { type AnyOperandType, dataConstructor, type TensorData } from "@nnhal/operations";

/** Memory that waits for its next use. */
export interface Scratch {
  /** Elements that were given back, with whatever is in them; undefined if there are none. They are the caller's alone. */
  take(type: AnyOperandType, count: number): TensorData | undefined;
  /** Gives elements back. Nothing reads them any more. */
  giveBack(data: TensorData): void;
  /** Forgets what waits. */
  clear(): void;
}

/** Allocating fewer elements than these is quicker than looking for them. */
const LEAST_COUNT = 4096;

/** Most bytes that wait. Models whose shapes change from run to run would fill the memory with pieces of every size. */
const MOST_BYTES = 2 ** 28;

/** Scratch memory with nothing in it. */
export function createScratch(mostBytes = MOST_BYTES): Scratch {
  /** By typed array and number of elements. */
  const waiting = new Map<string, TensorData[]>();
  let bytes = 0;
  return {
    take(type, count) {
      if (count < LEAST_COUNT) return undefined;
      const data = waiting.get(`${dataConstructor(type).name} ${count}`)?.pop();
      if (data !== undefined) bytes -= data.byteLength;
      return data;
    },
    giveBack(data) {
      if (data.length < LEAST_COUNT || bytes + data.byteLength > mostBytes) return;
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
