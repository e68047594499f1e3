/**
 * Memory for what operations hand to one another, used again from run to run: the system takes longer to give and clear
 * large pieces than to clear them again here.
 */
import { createData, type TensorData } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";

/** Memory that waits for its next use. */
export interface Scratch {
  /** Zeroed elements, which are the caller's alone. */
  take(type: OperandTypeName, count: number): TensorData;
  /** Gives elements that were taken back. Nobody reads them any more. */
  giveBack(type: OperandTypeName, data: TensorData): void;
  /** Forgets what waits. */
  clear(): void;
}

/** Fewer elements than these are quicker made anew. */
const leastCount = 4096;

/** Scratch memory with nothing in it. */
export function createScratch(): Scratch {
  /** By type and number of elements. */
  const waiting = new Map<string, TensorData[]>();
  return {
    take(type, count) {
      const data = count < leastCount ? undefined : waiting.get(`${type} ${count}`)?.pop();
      return data?.fill(0) ?? createData(type, count);
    },
    giveBack(type, data) {
      if (data.length < leastCount) return;
      const key = `${type} ${data.length}`;
      const pieces = waiting.get(key);
      if (pieces === undefined) waiting.set(key, [data]);
      else pieces.push(data);
    },
    clear: () => waiting.clear(),
  };
}
