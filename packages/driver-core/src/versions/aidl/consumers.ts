/** Consumers of operands: AIDL does not count them, HIDL does. */
import type { Operation } from "@nnhal/types";

/** The number of times that operations read each operand, by its index. Operands that none reads are left out. */
export function consumersOf(operations: readonly Pick<Operation, "inputs">[]): ReadonlyMap<number, number> {
  const consumers = new Map<number, number>();
  for (const { inputs } of operations) {
    for (const index of inputs) consumers.set(index, (consumers.get(index) ?? 0) + 1);
  }
  return consumers;
}
