/** Large constants, inputs and outputs of a program, copied or made in parts, between which the event loop has turns. */
import { nextTurn } from "@nnhal/utils/time";
import type { Plan } from "./plan/plan.ts";

/** Waits until work can go on. Rejects if the deadline has passed, or the work is no longer wanted. */
export type Pause = () => Promise<void>;

/** A pause that gives the event loop a turn, and checks then. */
export function pauseWith(check: () => void): Pause {
  return async () => {
    await nextTurn();
    check();
  };
}

/** Bytes that are copied without a pause: it takes some milliseconds. */
export const bytesAtOnce = 2 ** 24;

/** Elements that are packed without a pause, which takes longer where they lie far apart. */
const elementsAtOnce = 2 ** 18;

const bytesPerElement = bytesAtOnce / elementsAtOnce;

/** Writes the constants of a plan into the memory of its program. */
export async function writeConstants(memory: Uint8Array, regions: Plan["regions"], pause: Pause): Promise<void> {
  /** In elements. */
  let work = 0;
  const spend = async (elements: number) => {
    work += elements;
    if (work < elementsAtOnce) return;
    work = 0;
    await pause();
  };
  for (const { address, bytes, data } of regions) {
    if (data === undefined) continue;
    if (data instanceof Uint8Array) {
      for (let begin = 0; begin < data.length; begin += bytesAtOnce) {
        const part = data.subarray(begin, begin + bytesAtOnce);
        memory.set(part, address + begin);
        await spend(part.length / bytesPerElement);
      }
      continue;
    }
    const place = memory.subarray(address, address + bytes);
    for (let begin = 0; begin < data.count; begin += elementsAtOnce) {
      const end = Math.min(data.count, begin + elementsAtOnce);
      data.fill(place, begin, end);
      await spend(end - begin);
    }
  }
}

/** Copies bytes into others from a place on. */
export async function copyInParts(target: Uint8Array, place: number, source: Uint8Array, pause: Pause): Promise<void> {
  for (let begin = 0; begin < source.length; begin += bytesAtOnce) {
    if (begin > 0) await pause();
    target.set(source.subarray(begin, begin + bytesAtOnce), place + begin);
  }
}
