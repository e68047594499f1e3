/**
 * Isolation of one case from the next: what it throws and what it never finishes become its own failure.
 */

/** What an attempt came to: its value, or in words why there is none. */
export type Attempt<T> = { readonly value: T } | { readonly problem: string };

/** Calls back after some milliseconds; returns what cancels it. */
export type Timer = (milliseconds: number, callback: () => void) => () => void;

/** The timer of the system. */
export const systemTimer: Timer = (milliseconds, callback) => {
  const timeout = setTimeout(callback, milliseconds);
  return () => clearTimeout(timeout);
};

/**
 * Runs `work` for at most `limit` milliseconds. Work that is over the limit goes on, unwatched; work that never lets the
 * event loop turn cannot be interrupted from inside the same thread.
 */
export async function attempt<T>(
  limit: number,
  work: () => Promise<T> | T,
  timer: Timer = systemTimer,
): Promise<Attempt<T>> {
  let cancel = () => {};
  const tooLate = new Promise<Attempt<T>>((resolve) => {
    cancel = timer(limit, () => resolve({ problem: `no answer within ${limit} ms` }));
  });
  try {
    return await Promise.race([runToValue(work), tooLate]);
  } finally {
    cancel();
  }
}

async function runToValue<T>(work: () => Promise<T> | T): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: `threw ${describeError(error)}` };
  }
}

/** Whatever was thrown, in words, with the place where it was thrown. Never throws, even if the value cannot be read. */
export function describeError(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const place = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
    return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place.trim()})`}`;
  } catch {
    return `a value of type ${typeof error} that cannot be read`;
  }
}
