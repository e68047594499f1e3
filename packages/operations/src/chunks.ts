/**
 * Pauses of kernels that are generators, as a few of nnhal.tflite and those of nnhal.mediapipe are.
 */

/** Elements between two pauses: a few milliseconds, even if each takes long. */
export const CHUNK = 1 << 16;

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
