/**
 * The public vectors for this folder's tests: with `NNHAL_VECTOR_WAYS=all` every one, otherwise a fixed sample with all
 * that have control flow or have to fail. The vectors are not part of this repository: NNHAL_VECTORS names their folder.
 */

import { allVectors } from "../vectors/all.test-helper.ts";
import type { Example } from "../vectors/example.ts";

/** Whether every vector runs. */
export const isFull = process.env.NNHAL_VECTOR_WAYS === "all";

/** Of the vectors without control flow, one in so many; of those of several operations, which can be divided, more. */
const sampled = { single: 61, several: 13 };

/** Of the vectors with control flow, one in so many where a device runs it whole. */
const sampledLoops = 6;

/** The vectors that run. */
export async function sampleOfVectors(): Promise<Example[]> {
  let count = 0;
  return (await allVectors()).filter(({ main, referenced, expectFailure }) => {
    const every = main.operations.length > 1 ? sampled.several : sampled.single;
    return isFull || referenced.length > 0 || expectFailure || count++ % every === 0;
  });
}

/** Fewer of the vectors with control flow: for tests in which it is not interpreted. */
export function withFewLoops(sample: readonly Example[]): Example[] {
  let count = 0;
  return sample.filter(({ referenced }) => isFull || referenced.length === 0 || count++ % sampledLoops === 0);
}
