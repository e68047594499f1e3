/** The inputs worth changing, and the choice of the next one. */
import { mutateBytes } from "./mutate/bytes.ts";
import type { Random } from "./random.ts";
import type { Input, Target } from "./target.ts";

/** An input that was the first to reach something. */
interface Entry {
  readonly input: Input;
  /** How much it was the first to reach. */
  readonly fresh: number;
  /** How often it has been changed. */
  tries: number;
}

/** The corpus of a run. */
export interface Engine {
  /** An input that was not run yet, made of those that are kept. */
  next(): Input;
  /** Keeps an input. */
  keep(input: Input, fresh: number): void;
  readonly size: number;
}

/** A corpus of a target. Empty until inputs are kept. */
export function createEngine(target: Pick<Target, "mutate" | "longest">, random: Random): Engine {
  const entries: Entry[] = [];

  /** Of a few entries the one that has been tried least for what it reached. Recent ones are looked at more often. */
  const choose = (): Entry | undefined => {
    let best: Entry | undefined;
    for (let draw = 0; draw < 3; draw++) {
      const recent = draw === 0 ? Math.min(entries.length, 32) : entries.length;
      const entry = entries[entries.length - 1 - random.below(recent)];
      if (entry === undefined) continue;
      if (best === undefined || entry.tries / (1 + entry.fresh) < best.tries / (1 + best.fresh)) best = entry;
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
    keep(input, fresh) {
      entries.push({ input, fresh, tries: 0 });
    },
    get size() {
      return entries.length;
    },
  };
}
