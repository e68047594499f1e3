/** Waits with a limit. What is waited for goes on after it; nothing stops it. */
import { type Clock, callAfter, type Timer } from "./timer.ts";

/** Settles as some work does, or with `late()` after about `nanoseconds`. */
export async function within<Result>(
  work: Promise<Result>,
  nanoseconds: bigint,
  timer: Timer,
  late: () => Result | Promise<Result>,
): Promise<Result> {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = timer(nanoseconds, resolve);
  });
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    cancel();
  }
}

/** Waits for work for at most about `nanoseconds`. Resolves with whether it has settled; never rejects. */
export function endsWithin(work: Promise<unknown>, nanoseconds: bigint, timer: Timer): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return within(ended, nanoseconds, timer, () => false);
}

/**
 * The result of some work, which never rejects, or of `late` if `limit` comes first. Work that has ended already counts, even
 * after the limit. `ignored`: called with the result of work that has ended too late.
 */
export function endBy<Result>(
  work: Promise<Result>,
  limit: bigint,
  clock: Clock,
  late: () => Result,
  ignored: (result: Result) => void = () => {},
): Promise<Result> {
  return new Promise((resolve) => {
    let isOver = false;
    const cancel = callAfter(limit, clock, () => {
      isOver = true;
      resolve(late());
    });
    void work.then((result) => {
      cancel();
      if (isOver) ignored(result);
      else resolve(result);
    });
  });
}
