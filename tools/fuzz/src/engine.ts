/** The inputs worth changing, and the choice of the next one. */
import { mutateBytes } from "./mutate/bytes.ts";
import type { Random } from "./random.ts";
import type { Input, Target } from "./target.ts";

/** An input that was the first to reach something. */
interface Entry {
  readonly input: Input;
  /** Number of places that it was the first to reach. */
  readonly fresh: number;
  /** Milliseconds that it took, at least 1. */
  readonly cost: number;
  /** Number of times that it has been changed. */
  tries: number;
}

/** The corpus of a run. */
export interface Engine {
  /** Returns an input that was not run yet, made from those that are kept. */
  next(): Input;
  /** Keeps an input that reached `fresh` things first, and took some milliseconds. */
  keep(input: Input, fresh: number, cost?: number): void;
  readonly size: number;
}

/** A corpus of a target. Empty until inputs are kept. */
export function createEngine(target: Pick<Target, "mutate" | "longest">, random: Random): Engine {
  const entries: Entry[] = [];

  const spend = ({ tries, cost, fresh }: Entry) => (tries * cost) / (1 + fresh);

  /**
   * Chooses among a few entries the one with the least time spent per place that it reached. Recent ones are drawn more often.
   */
  const choose = (): Entry | undefined => {
    let best: Entry | undefined;
    for (let draw = 0; draw < 3; draw++) {
      const recent = draw === 0 ? Math.min(entries.length, 32) : entries.length;
      const entry = entries[entries.length - 1 - random.below(recent)];
      if (entry === undefined) continue;
      if (best === undefined || spend(entry) < spend(best)) best = entry;
    }
    return best;
  };

  return {
    next() {
      const entry = choose();
      if (entry === undefined) return new Uint8Array(0);
      entry.tries++;
      const { input } = entry;
      const other = entries[random.below(entries.length)]?.input ?? input;
      const structured = random.oneIn(8) ? undefined : target.mutate?.(input, random, other);
      if (structured !== undefined && structured.length <= target.longest) return structured;
      return mutateBytes(input, random, other, target.longest);
    },
    keep(input, fresh, cost = 1) {
      entries.push({ input, fresh, cost: Math.max(1, cost), tries: 0 });
    },
    get size() {
      return entries.length;
    },
  };
}
