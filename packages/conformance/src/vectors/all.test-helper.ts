/** The public vectors, read once in a process. They are not part of this repository: NNHAL_VECTORS names their folder. */
import { existsSync } from "node:fs";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import type { Example } from "./example.ts";
import { findVectorFiles, readVectorFiles } from "./read.ts";

/** True if the vectors are there. */
export const areThere = existsSync(folder);

let known: Promise<readonly Example[]> | undefined;

/** Every vector, in the order of the files; none if they are not there. */
export function allVectors(): Promise<readonly Example[]> {
  known ??= read();
  return known;
}

async function read(): Promise<readonly Example[]> {
  const examples: Example[] = [];
  if (areThere) for await (const example of readVectorFiles(await findVectorFiles(folder))) examples.push(example);
  return examples;
}
