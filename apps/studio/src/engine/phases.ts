/**
 * Phases of a piece of work, one after another.
 */

/** A phase: milliseconds, from the start of the work. */
export interface Phase {
  readonly name: string;
  readonly start: number;
  readonly time: number;
}

/** Measures work from now on. `now`: a clock in milliseconds. */
export function createStopwatch(now: () => number = () => performance.now()) {
  const begun = now();
  const starts: { readonly name: string; readonly start: number }[] = [];
  return {
    /** Begins a phase, which ends the one before. */
    begin(name: string): void {
      starts.push({ name, start: now() - begun });
    },
    /** All phases, and the time of the whole. */
    end(): { readonly time: number; readonly phases: readonly Phase[] } {
      const time = now() - begun;
      const phases = starts.map(({ name, start }, place) => ({
        name,
        start,
        time: (starts[place + 1]?.start ?? time) - start,
      }));
      return { time, phases };
    },
  };
}
