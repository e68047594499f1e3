/** Predicts the amount of computation of an operation on given operands, by its definition. */
import { bindByName } from "./bind.ts";
import type { Operation } from "./define.ts";
import { type Extents, sizeOfAll, type Work } from "./work.ts";

/**
 * Returns the work of an operation on operands of these extents, in the order of the operand list. An undefined
 * operation, such as one of an unknown extension, or one whose operand list has an illegal length, counts as one
 * `element` step for each element that it reads or writes.
 */
export function workOf(
  operation: Operation | undefined,
  inputs: readonly Extents[],
  outputs: readonly Extents[],
): Work {
  const read = inputs.map(atLeastOne);
  const written = outputs.map(atLeastOne);
  const work = operation?.work ?? "element";
  if (typeof work === "string") return { [work]: sizeOfAll(read) + sizeOfAll(written) };
  for (const form of operation?.forms ?? []) {
    const args = bindByName(form.params, form.counts, read);
    const results = bindByName(form.outputs, form.outputCounts, written);
    if (args !== undefined && results !== undefined) return work(args, results);
  }
  return { element: sizeOfAll(read) + sizeOfAll(written) };
}

function atLeastOne(extents: Extents): Extents {
  return extents.map((extent) => Math.max(extent, 1));
}
