/**
 * Runs until the times no longer fall: libraries reserve memory on first use, and JavaScript engines compile what runs often. Of a fast
 * network, code that runs once per execution is a few hundredths of the time and compiled after a thousand runs or two, which the times of
 * windows do not show: so there is a least number of runs.
 */

/** End of a warm-up. */
export interface WarmUp {
  readonly runs: number;
  /** True if the times had settled when it ended; otherwise it took too long to go on. */
  readonly stable: boolean;
  /** Milliseconds of the fastest run. */
  readonly least: number;
}

/** When to end. */
export interface WarmUpLimits {
  /** A window has at least this many milliseconds and this many runs; it ends before those if they take more than `long` milliseconds. */
  readonly window: { readonly runs: number; readonly milliseconds: number; readonly long: number };
  /** So many windows in a row must not be faster than what came before by more than the tolerance. */
  readonly settled: number;
  readonly tolerance: number;
  /** There are at least so many runs, unless they take longer than so many milliseconds. */
  readonly least: { readonly runs: number; readonly milliseconds: number };
  /** Milliseconds after which no other window begins. */
  readonly longest: number;
}

export const warmUpLimits: WarmUpLimits = {
  window: { runs: 3, milliseconds: 60, long: 2000 },
  settled: 3,
  tolerance: 0.03,
  least: { runs: 2500, milliseconds: 5000 },
  longest: 10_000,
};

/** Warms up. The least times of windows are compared, since work of other programs only adds time. */
export async function warmUp(
  run: () => Promise<void> | void,
  now: () => number,
  { window, settled, tolerance, least: needed, longest }: WarmUpLimits = warmUpLimits,
): Promise<WarmUp> {
  const start = now();
  let runs = 0;
  let quiet = 0;
  let least = Number.POSITIVE_INFINITY;
  const isEnough = () => runs >= needed.runs || now() - start >= needed.milliseconds;
  while ((quiet < settled || !isEnough()) && (runs === 0 || now() - start < longest)) {
    const begin = now();
    let fastest = Number.POSITIVE_INFINITY;
    const isOver = (done: number, time: number) =>
      time >= window.long || (done >= window.runs && time >= window.milliseconds);
    for (let done = 0; done === 0 || !isOver(done, now() - begin); done++) {
      const before = now();
      await run();
      fastest = Math.min(fastest, now() - before);
      runs++;
    }
    quiet = fastest >= least * (1 - tolerance) ? quiet + 1 : 0;
    least = Math.min(least, fastest);
  }
  return { runs, stable: quiet >= settled, least };
}
