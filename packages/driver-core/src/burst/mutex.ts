/**
 * One thing at a time, in the order asked for.
 */

/** Does a piece of work once those asked for before have ended; begins at once where there are none. */
export type Exclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** A lock of its own. */
export function createMutex(): Exclusive {
  let last: Promise<unknown> | undefined;
  return (work) => {
    const mine = last === undefined ? work() : last.then(work, work);
    last = mine;
    const release = () => {
      if (last === mine) last = undefined;
    };
    mine.then(release, release);
    return mine;
  };
}
