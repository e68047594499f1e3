/** Executing a request elsewhere: what the other side reads is copied before, and what it writes afterwards, if it is not shared. */
import type { Request, RequestArgument } from "@nnhal/types";
import type { MemoryPassing, PassedMemory } from "./passing.ts";
import type { NoMemory } from "./shared-memory.ts";

/** A request whose memories have been passed. */
export interface Exchange {
  /** The ticket of each pool; null for a token. */
  readonly tickets: readonly (Uint8Array | null)[];
  /** Copies the outputs to this side, after the other has written them. Throws if that fails. */
  finish(): void;
}

/** Passes the memories of a request, with the inputs in them. Throws if inputs cannot be copied. */
export function exchange(passing: MemoryPassing, { inputs, outputs, pools }: Request): Exchange | NoMemory {
  const passed: (PassedMemory | null)[] = [];
  for (const pool of pools) {
    const one = pool.kind === "memory" ? passing.pass(pool.memory) : null;
    if (one !== null && "refused" in one) return one;
    passed.push(one);
  }
  const each = (list: readonly RequestArgument[], copy: (one: PassedMemory, offset: number, length: number) => void) => {
    for (const { hasNoValue, location } of list) {
      const one = hasNoValue ? null : passed[location.poolIndex];
      if (one) copy(one, location.offset, location.length);
    }
  };
  each(inputs, (one, offset, length) => one.store?.(offset, length));
  return {
    tickets: passed.map((one) => one?.ticket ?? null),
    finish: () => each(outputs, (one, offset, length) => one.load?.(offset, length)),
  };
}
