/**
 * Isolation of one case from the next: what it throws and what it never finishes become its own failure.
 */

/** What an attempt came to: its value, or in words why there is none. */
export type Attempt<T> = { readonly value: T } | { readonly problem: string };

/**
 * Runs `work` for at most `limit` milliseconds. Work that is over the limit goes on, unwatched; work that never lets the
 * event loop turn cannot be interrupted from inside the same thread.
 */
export async function attempt<T>(limit: number, work: () => Promise<T> | T): Promise<Attempt<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<Attempt<T>>((resolve) => {
    timer = setTimeout(() => resolve({ problem: `no answer within ${limit} ms` }), limit);
  });
  try {
    return await Promise.race([runToValue(work), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function runToValue<T>(work: () => Promise<T> | T): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: `threw ${describeError(error)}` };
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
  return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place.trim()})`}`;
}
