/**
 * Puts operations into an order in which they can be executed.
 */
import { elementAt } from "@nnhal/operations";
import type { Operation } from "@nnhal/types";

/**
 * The operations, each after those that write its inputs; ones that are ready at the same time keep their order.
 * Undefined if the operations depend on each other in a circle.
 */
export function sortOperations(operations: readonly Operation[]): readonly Operation[] | undefined {
  const writer = new Map<number, number>();
  operations.forEach((operation, index) => {
    for (const output of operation.outputs) writer.set(output, index);
  });
  if (isSorted(operations, writer)) return operations;
  const readers: number[][] = operations.map(() => []);
  const waitingFor = operations.map((operation, index) => {
    const writers = new Set(operation.inputs.map((input) => writer.get(input)).filter((other) => other !== undefined));
    for (const other of writers) elementAt(readers, other).push(index);
    return writers.size;
  });
  const ready = operations.map((_, index) => index).filter((index) => waitingFor[index] === 0);
  // The list grows while it is walked: an operation that becomes ready is appended.
  for (const index of ready) {
    for (const reader of elementAt(readers, index)) {
      const left = elementAt(waitingFor, reader) - 1;
      waitingFor[reader] = left;
      if (left === 0) ready.push(reader);
    }
  }
  return ready.length === operations.length ? ready.map((index) => elementAt(operations, index)) : undefined;
}

function isSorted(operations: readonly Operation[], writer: ReadonlyMap<number, number>): boolean {
  return operations.every((operation, index) => operation.inputs.every((input) => (writer.get(input) ?? -1) < index));
}
