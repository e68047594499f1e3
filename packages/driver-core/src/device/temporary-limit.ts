/** The limit for the temporaries of a device. */
import { totalmem } from "node:os";

/** A quarter of the memory that the process may use: what the machine has, or what its container is limited to. */
export function defaultTemporaryLimit(): number {
  // Node.js reports 0, or more than the machine has, if there is no limit.
  const constrained = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), constrained) / 4);
}
