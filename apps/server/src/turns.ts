/** Work on things with names: one piece after the other for each name, and at the same time for different ones. */

export interface Turns {
  /** Runs work when the work before it under this name has ended, well or not. */
  take<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Names under which work goes on or waits. Clients choose names, so none is kept for longer. */
  readonly size: number;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(name, work) {
      const mine = (last.get(name) ?? Promise.resolve()).then(work, work);
      const settled: Promise<unknown> = mine
        .catch(() => {})
        .finally(() => {
          if (last.get(name) === settled) last.delete(name);
        });
      last.set(name, settled);
      return mine;
    },
    get size() {
      return last.size;
    },
  };
}
