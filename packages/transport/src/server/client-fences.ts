/** The fences of a client that its executions wait for. */
import { createFence, type FenceSource } from "@nnhal/driver-core/fence";
import { ErrorStatus, type SyncFence } from "@nnhal/types";
import { type Handler, makeMessageHandler } from "../protocol/answers.ts";
import { notices } from "../protocol/methods.ts";
import { Refused } from "../protocol/refused.ts";

/** See the file's head. */
export interface ClientFences {
  /** The fence of a client with a number and its state when it was sent. Throws Refused beyond the limit. */
  fenceOf(given: { readonly id: number; readonly state: SyncFence["state"] }): SyncFence;
  readonly handlers: readonly Handler[];
  /** The client is gone: fences that are ACTIVE fail. */
  close(): void;
}

export function createClientFences(mostFences: number): ClientFences {
  const sources = new Map<number, FenceSource>();
  const sourceOf = (id: number): FenceSource | undefined => {
    const known = sources.get(id);
    if (known !== undefined || sources.size >= mostFences) return known;
    const source = createFence();
    sources.set(id, source);
    return source;
  };
  const settle = (source: FenceSource, state: SyncFence["state"]) => {
    if (state === "SIGNALED") source.signal();
    else source.fail();
  };
  return {
    fenceOf({ id, state }) {
      if (state !== "ACTIVE") {
        const source = createFence();
        settle(source, state);
        return source.fence;
      }
      const source = sourceOf(id);
      if (source === undefined) {
        const why = `the client waits for ${sources.size} fences, which is the limit`;
        throw new Refused(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, why);
      }
      // It may have been settled before the call has come.
      if (source.fence.state === "ACTIVE") void source.fence.wait().then(() => sources.delete(id));
      else sources.delete(id);
      return source.fence;
    },
    handlers: [
      makeMessageHandler(notices.fenceSettled, ({ id, state }) => {
        const source = sourceOf(id);
        if (source !== undefined && state !== "ACTIVE") settle(source, state);
      }),
    ],
    close() {
      for (const { fail } of sources.values()) fail();
      sources.clear();
    },
  };
}
