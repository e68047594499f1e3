/** Work on named things: one after the other for each name, concurrently for different ones. */
import { createMutex } from "@nnhal/utils/time";

export interface Turns {
  /** Runs work after the earlier work under this name has ended, with or without success. */
  take<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Number of names under which work runs or waits. Clients choose names, so finished ones are removed. */
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
