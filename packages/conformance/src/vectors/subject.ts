/**
 * Which operation an example is about. An example counts under one operation only, so that the numbers of all operations
 * add up to the total.
 */
import type { OperandTypeName, OperationTypeName } from "@nnhal/types";
import type { Example, ExampleOperation } from "./example.ts";

/**
 * The operation that an example tests: the last one, since the operations before it only make its inputs (a
 * BOX_WITH_NMS_LIMIT that keeps no box gives a later operation its zero-sized input). Placeholders after it do not count.
 */
export function subjectOf(example: Example): OperationTypeName | "none" {
  return findTested(example)?.type ?? "none";
}

/** The type of the first result of that operation; undefined if it has none. */
export function resultTypeOf(example: Example): OperandTypeName | undefined {
  const [index] = findTested(example)?.outputs ?? [];
  return index === undefined ? undefined : example.main.operands[index]?.type;
}

function findTested(example: Example): ExampleOperation | undefined {
  const { operations } = example.main;
  return operations.findLast((operation) => !isPlaceholder(example, operation)) ?? operations.at(-1);
}

/** An ADD of a constant zero, put before an input or after an output to make it internal. */
function isPlaceholder({ name, main }: Example, { type, inputs }: ExampleOperation): boolean {
  if (type !== "ADD" || !/_all_(in|out)puts_as_internal/.test(name)) return false;
  const [, index] = inputs;
  const added = index === undefined ? undefined : main.operands[index];
  if (added === undefined || !added.lifetime.startsWith("CONSTANT")) return false;
  return added.dimensions.length === 1 && added.dimensions[0] === 1;
}
