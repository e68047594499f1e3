/**
 * The public vectors for this folder's tests: with `NNHAL_VECTOR_WAYS=all` every one, otherwise a fixed sample with all
 * that have control flow or have to fail. The vectors are not part of this repository: NNHAL_VECTORS names their folder.
 */

import { existsSync } from "node:fs";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import type { Example } from "../vectors/example.ts";
import { findVectorFiles, readVectorFiles } from "../vectors/read.ts";

/** Whether the vectors are there. */
export const areThere = existsSync(folder);

/** Whether every vector runs. */
export const isFull = process.env.NNHAL_VECTOR_WAYS === "all";

/** Of the vectors without control flow, one in so many; of those of several operations, which can be divided, more. */
const sampled = { single: 61, several: 13 };

/** The vectors that run. */
export async function sampleOfVectors(): Promise<Example[]> {
  const examples: Example[] = [];
  if (!areThere) return examples;
  let count = 0;
  for await (const example of readVectorFiles(await findVectorFiles(folder))) {
    const every = example.main.operations.length > 1 ? sampled.several : sampled.single;
    if (isFull || example.referenced.length > 0 || example.expectFailure || count++ % every === 0)
      examples.push(example);
  }
  return examples;
}
