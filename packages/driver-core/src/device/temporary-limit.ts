/** The limits for the memory of a device. */
import { ifPermitted } from "@nnhal/utils";
import { optionalNodeModule } from "@nnhal/utils/node";

/** Assumed memory limit of a page, which browsers do not report, and of a runtime that does not permit the question. */
const pageMemory = 4 * 2 ** 30;

/** The memory of the machine, in bytes. */
export function machineMemory(): number {
  return ifPermitted(() => optionalNodeModule("node:os")?.totalmem()) ?? pageMemory;
}

/** Returns a quarter of the memory that the process may use: the machine's memory or its container's limit. */
export function defaultTemporaryLimit(): number {
  // Node.js reports 0, or more than the machine has, if there is no limit.
  const constrained = ifPermitted(() => globalThis.process?.constrainedMemory?.()) || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(machineMemory(), constrained) / 4);
}
