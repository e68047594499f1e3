/**
 * Pauses for kernels that do little for each element: a long loop is cut into parts.
 */
import type { TensorData } from "../tensor.ts";

/** Elements between two pauses; a few milliseconds of work. */
export const CHUNK = 1 << 20;

/**
 * Runs a loop over arrays of one length in parts, with a pause between two. `run` gets what takes the part of an array.
 */
export function* inChunks(
  length: number,
  run: (part: (data: TensorData) => TensorData) => void,
): Generator<void, void> {
  if (length <= CHUNK) {
    run((data) => data);
    return;
  }
  for (let start = 0; start < length; start += CHUNK) {
    run((data) => data.subarray(start, start + CHUNK));
    yield;
  }
}

/** Counts work and says when it is time to pause. */
export function pacer(): (work: number) => boolean {
  let done = 0;
  return (work) => {
    done += work;
    if (done < CHUNK) return false;
    done = 0;
    return true;
  };
}
