/**
 * Runs until the times no longer fall: JavaScript engines compile what runs often, and libraries reserve memory on first use.
 */

/** How a warm-up ended. */
export interface WarmUp {
  readonly runs: number;
  /** Whether the times had settled when it ended; otherwise it took too long to go on. */
  readonly stable: boolean;
  /** Milliseconds of the fastest run. */
  readonly least: number;
}

/** When to end. */
export interface WarmUpLimits {
  /** A window has at least this many runs and this many milliseconds. */
  readonly window: { readonly runs: number; readonly milliseconds: number };
  /** So many windows in a row must not be faster than what came before by more than the tolerance. */
  readonly settled: number;
  readonly tolerance: number;
  /** Milliseconds after which no other window begins. */
  readonly longest: number;
}

export const warmUpLimits: WarmUpLimits = {
  window: { runs: 3, milliseconds: 60 },
  settled: 3,
  tolerance: 0.03,
  longest: 5000,
};

/** Warms up. The least times of windows are compared, since work of other programs only adds time. */
export async function warmUp(
  run: () => Promise<void> | void,
  now: () => number,
  { window, settled, tolerance, longest }: WarmUpLimits = warmUpLimits,
): Promise<WarmUp> {
  const start = now();
  let runs = 0;
  let quiet = 0;
  let least = Number.POSITIVE_INFINITY;
  while (quiet < settled && (runs === 0 || now() - start < longest)) {
    const begin = now();
    let fastest = Number.POSITIVE_INFINITY;
    for (let done = 0; done < window.runs || now() - begin < window.milliseconds; done++) {
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
