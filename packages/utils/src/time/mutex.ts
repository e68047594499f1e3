/** A lock: tasks run one at a time, in the order of the calls. */

/** Runs a task after all earlier tasks have ended; immediately if there are none. */
export type Exclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** A new lock. */
export function createMutex(): Exclusive {
  let last: Promise<unknown> | undefined;
  return (work) => {
    const mine = last === undefined ? start(work) : last.then(work, work);
    last = mine;
    const release = () => {
      if (last === mine) last = undefined;
    };
    mine.then(release, release);
    return mine;
  };
}

/** Starts a task immediately. The promise rejects with the error that it throws. */
async function start<T>(work: () => Promise<T>): Promise<T> {
  return work();
}
