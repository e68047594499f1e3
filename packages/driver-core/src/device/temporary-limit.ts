/** The limits for the memory of a device. */
import { ifPermitted } from "@nnhal/utils";
import { optionalNodeModule } from "@nnhal/utils/node";

/** What a page may use, of which no browser says how much it is, and a runtime that does not permit to ask. */
const pageMemory = 4 * 2 ** 30;

/** The memory of the machine, in bytes. */
export function machineMemory(): number {
  return ifPermitted(() => optionalNodeModule("node:os")?.totalmem()) ?? pageMemory;
}

/** A quarter of the memory that the process may use: what the machine has, or what its container is limited to. */
export function defaultTemporaryLimit(): number {
  // Node.js reports 0, or more than the machine has, if there is no limit.
  const constrained = ifPermitted(() => globalThis.process?.constrainedMemory?.()) || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(machineMemory(), constrained) / 4);
}
