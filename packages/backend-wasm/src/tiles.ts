/** The tiles of a session: those of the table, or what a short timing finds to be faster on this processor with this compiler. */
import { functionsOf, type Plan, type ProductStep } from "./plan/plan.ts";
import { type FactorKind, narrowSums, sumsToCompare, type TileSums } from "./plan/tiles.ts";

/** The tiles of a session. */
export interface Tiles {
  /** Those that are known now. The same object as long as nothing changes. */
  sums(): TileSums;
  /** Those of the factors that have been timed. */
  known(): Partial<TileSums>;
  /** Takes those that another process has timed, where none have been timed here. */
  keep(known: Partial<TileSums>): void;
  /** The tiles for a plan: its factors are timed first if it has so many products that the tiles matter. */
  timed(plan: Pick<Plan, "steps">): Promise<TileSums>;
}

/** Multiply-adds of a network from which on its tiles are timed: they take about a millisecond. */
export const mostUntimed = 2 ** 24;

/** Creates the tiles of a session. `time`: finds the number of sums that is the fastest, one of `sumsToCompare`. */
export function createTiles(time: (kind: FactorKind) => Promise<number>): Tiles {
  const timings = new Map<FactorKind, Promise<void>>();
  let known: Partial<TileSums> = {};
  let sums = narrowSums;
  const learn = (more: Partial<TileSums>) => {
    known = { ...more, ...known };
    const next = { ...narrowSums, ...known };
    if (next.pairs !== sums.pairs || next.floats !== sums.floats) sums = next;
  };
  const timeOnce = (kind: FactorKind) => {
    const timing =
      timings.get(kind) ??
      time(kind).then(
        (fastest) => learn({ [kind]: fastest }),
        () => learn({ [kind]: narrowSums[kind] }),
      );
    timings.set(kind, timing);
    return timing;
  };
  return {
    sums: () => sums,
    known: () => known,
    keep({ pairs, floats }) {
      if (isCompared(pairs)) learn({ pairs });
      if (isCompared(floats)) learn({ floats });
    },
    async timed({ steps }) {
      const products = functionsOf(steps).filter((step) => step.kind === "product");
      for (const kind of ["pairs", "floats"] as const) {
        if (known[kind] === undefined && workOf(products, kind) >= mostUntimed) await timeOnce(kind);
      }
      return sums;
    },
  };
}

function isCompared(sums: number | undefined): sums is number {
  return sums !== undefined && sumsToCompare.includes(sums);
}

/** The multiply-adds of the products with such factors. */
function workOf(products: readonly ProductStep[], kind: FactorKind): number {
  let work = 0;
  for (const { source, rows, depth, columns } of products) {
    if ((source.type === "f32") === (kind === "floats")) work += rows * depth * columns;
  }
  return work;
}
