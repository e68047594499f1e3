/** Constants of FLOAT16 that are read as FLOAT32. */
import type { Lowering } from "../lowering.ts";

/**
 * Makes the result a constant if the input is a FLOAT16 constant and the result FLOAT32, so that weights are widened once and not at each execution.
 * Returns whether it did.
 */
export function foldWidened(op: Lowering): boolean {
  const bytes = op.outputTensor().type === "FLOAT32" ? op.graph.widenedBytes(op.inputIndex(0)) : undefined;
  if (bytes === undefined) return false;
  op.graph.fold(op.outputIndex(0), bytes, op.inputTensor(0).shape);
  return true;
}
