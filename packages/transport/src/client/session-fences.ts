/** The fences of a session: those of the server, of which it tells the end, and those of this side, whose end is sent. */
import { createFence } from "@nnhal/driver-core/fence";
import type { SyncFence } from "@nnhal/types";
import { type Handler, makeMessageHandler } from "../protocol/answers.ts";
import type { Connection } from "../protocol/connection.ts";
import { notices } from "../protocol/methods.ts";
import { createEarlyEnds } from "./early-ends.ts";

/** A fence as both sides call it. */
export interface NumberedFence {
  readonly id: number;
  readonly state: SyncFence["state"];
}

/** See the file's head. */
export interface SessionFences {
  /** Takes the ends of the server's fences. */
  readonly handler: Handler;
  /**
   * The fence of the server's with a number, which is ERROR if the connection ends before. `load`: called before it is signalled; if it
   * throws, the fence is ERROR.
   */
  fenceOf(given: NumberedFence, load: () => void): SyncFence;
  /** The number and state of a fence of this side; its end is sent. */
  idOfFence(fence: SyncFence): NumberedFence;
  /** The connection is over: the server's fences are ERROR. */
  fail(): void;
}

export function createSessionFences(connection: () => Connection): SessionFences {
  const fences = new Map<number, { settle(state: SyncFence["state"]): void }>();
  const early = createEarlyEnds<SyncFence["state"]>();
  let lastId = 0;
  return {
    handler: makeMessageHandler(notices.fenceSettled, ({ id, state }) => {
      const fence = fences.get(id);
      if (fence === undefined) early.keep(id, state);
      else fence.settle(state);
    }),
    fenceOf({ id, state }, load) {
      const source = createFence();
      const settle = (to: SyncFence["state"]) => {
        fences.delete(id);
        if (to !== "SIGNALED") return source.fail();
        try {
          load();
          source.signal();
        } catch {
          source.fail();
        }
      };
      const end = state === "ACTIVE" ? early.take(id) : state;
      if (end !== undefined) settle(end);
      else if (connection().over !== undefined) settle("ERROR");
      else fences.set(id, { settle });
      return source.fence;
    },
    idOfFence(fence) {
      const id = ++lastId;
      const { state } = fence;
      if (state === "ACTIVE") {
        const tell = (to: SyncFence["state"]) => {
          connection().send(notices.fenceSettled, { id, state: to === "SIGNALED" ? to : "ERROR" });
        };
        // A fence of the caller's can be of any kind.
        Promise.resolve(fence.wait()).then(tell, () => tell("ERROR"));
      }
      return { id, state };
    },
    fail() {
      for (const { settle } of [...fences.values()]) settle("ERROR");
    },
  };
}
