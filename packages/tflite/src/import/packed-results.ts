/** Operators whose results have elements of less than 8 bits. */
import { tensorOf } from "./graph.ts";
import type { Lowering } from "./lowering.ts";
import { packedRange } from "./packed-types.ts";

/** Operators whose results may have less than 8 bits: those that convert to them, and some that move elements. */
const packing: ReadonlySet<string> = new Set([
  "QUANTIZE",
  "DENSIFY",
  "RESHAPE",
  "SQUEEZE",
  "EXPAND_DIMS",
  "SLICE",
  "STRIDED_SLICE",
  "GATHER",
  "TRANSPOSE",
  "CONCATENATION",
]);

/** Refuses an operator that computes elements of less than 8 bits, which are held in 8. */
export function ensurePackedResults(op: Lowering): void {
  const { name, outputs } = op.operator;
  if (packing.has(name)) return;
  const packed = outputs.find((output) => packedRange(tensorOf(op.graph, output).type) !== undefined);
  op.ensure(
    packed === undefined,
    () =>
      `tensor ${packed} has elements of less than 8 bits, which only operators that quantise or move elements can write`,
  );
}
