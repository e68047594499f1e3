/** Work on things with names: one piece after the other for each name, and at the same time for different ones. */
import { createMutex } from "@nnhal/utils/time";

export interface Turns {
  /** Runs work when the work before it under this name has ended, well or not. */
  take<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Names under which work goes on or waits. Clients choose names, so none is kept for longer. */
  readonly size: number;
}

export function createTurns(): Turns {
  const locks = new Map<string, { readonly exclusive: ReturnType<typeof createMutex>; users: number }>();
  return {
    async take(name, work) {
      const lock = locks.get(name) ?? { exclusive: createMutex(), users: 0 };
      locks.set(name, lock);
      lock.users++;
      try {
        return await lock.exclusive(work);
      } finally {
        if (--lock.users === 0) locks.delete(name);
      }
    },
    get size() {
      return locks.size;
    },
  };
}
