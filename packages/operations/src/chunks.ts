/**
 * Pauses of kernels that are generators, as those of nnhal.tflite are.
 */
import type { TensorData } from "./tensor.ts";

/** Multiply-adds between two pauses of a long kernel: a few milliseconds, even before the loop is compiled. */
export const WORK_BETWEEN_PAUSES = 1 << 18;

/** Elements between two pauses: a few milliseconds, even if each takes long. */
export const CHUNK = 1 << 16;

/**
 * Runs a loop over arrays of one length in parts, with a pause between two. `run` receives a function that returns an array's current part.
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

/** As `target.fill(value)`, with pauses. */
export function* fillInChunks(target: TensorData | Float64Array, value: number): Generator<void, void> {
  // Filling and copying is much quicker than computing.
  const step = 16 * CHUNK;
  for (let start = 0; start < target.length; start += step) {
    if (start > 0) yield;
    target.fill(value, start, start + step);
  }
}

/** As `target.set(source, at)`, with pauses. */
export function* copyInChunks(
  source: ArrayLike<number> & Sliceable,
  target: TensorData,
  at = 0,
): Generator<void, void> {
  const step = 16 * CHUNK;
  if (source.length <= step) {
    target.set(source, at);
    return;
  }
  for (let start = 0; start < source.length; start += step) {
    target.set(source.subarray(start, start + step), at + start);
    yield;
  }
}

/** The common methods of typed arrays. */
interface Sliceable {
  subarray(begin: number, end: number): ArrayLike<number>;
}

/** Counts work, in elements, and returns whether it is time to pause. */
export type Pacer = (work: number) => boolean;

/** A pacer that has counted nothing yet. */
export function pacer(): Pacer {
  let done = 0;
  return (work) => {
    done += work;
    if (done < CHUNK) return false;
    done = 0;
    return true;
  };
}
