/**
 * The import of constants that few models have: packed and sparse ones, those that are quantised by blocks or widened, and inputs without
 * elements.
 */
import { ensureNoOtherBlocks } from "./blocks.ts";
import type { Lowering } from "./lowering.ts";
import { ensurePackedResults } from "./packed-results.ts";

export { blocksOf, widenedBlocks } from "./blocks.ts";
export { emptyEntry } from "./empty-inputs.ts";
export { createExpander } from "./stored.ts";

/** Refuses an operator that does not take tensors of less than 8 bits, or of blocks, that it has. */
export function ensureRareTensors(op: Lowering): void {
  ensurePackedResults(op);
  ensureNoOtherBlocks(op);
}
