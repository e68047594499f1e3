/** A double of a thread: the test takes ranges and ends them. */
import type { Thread } from "@nnhal/backend/threads";
import type { Numbered } from "../helper/messages.ts";
import { mostRanges, words } from "../helper/words.ts";

export interface FakeThread extends Thread {
  /** Takes a range, if there is one and it has none. Returns true if it has taken one now. */
  takeRange(): boolean;
  endRange(how?: "failed"): void;
  /** Ends as if its process had ended it. */
  crash(): void;
}

export function fakeThread(): FakeThread {
  let control = new Int32Array(0) as Int32Array;
  let hasRange = false;
  let ended: Error | undefined;
  return {
    post(message) {
      // It is a message of a team.
      const { kind, ...rest } = message as Numbered;
      if (kind === "begin" && "control" in rest) control = rest.control;
    },
    next: async () => ({}),
    ended: () => ended,
    end() {
      ended ??= new Error("it was ended");
    },
    crash() {
      ended = new Error("it has crashed");
    },
    takeRange() {
      const left = Atomics.load(control, words.left);
      if (hasRange || (left & mostRanges) === 0) return false;
      Atomics.store(control, words.left, left - 1);
      hasRange = true;
      return true;
    },
    endRange(how) {
      if (how === "failed") Atomics.store(control, words.failed, 1);
      Atomics.add(control, words.done, 1);
      hasRange = false;
    },
  };
}
