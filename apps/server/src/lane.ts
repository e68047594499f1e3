/** Work that blocks the thread for a while, one piece in each turn of the event loop, so that short requests are answered in between. */
import { createMutex, nextTurn } from "@nnhal/utils/time";

/** Runs work after the earlier work, and after a turn of the event loop. */
export type Lane = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

export function createLane(): Lane {
  const exclusive = createMutex();
  return (work) =>
    exclusive(async () => {
      await nextTurn();
      return work();
    });
}
