/** Work that blocks the thread for a while, one piece in each turn of the event loop, so that short requests are answered in between. */

/** Runs work when the work before it is done, and what else there was to do has had its turn. */
export type Lane = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

export function createLane(): Lane {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(nextTurn).then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
