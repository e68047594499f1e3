/** The timing of tiles: the candidates compute the same product in turns, and the fastest one is taken. */
import { nextTurn } from "@nnhal/utils/time";
import { type FactorKind, narrowSums, sumsToCompare } from "./plan/tiles.ts";
import { type PreparedCases, type ProvenMachine, prepareCases } from "./self-check.ts";
import { createTiles } from "./tiles.ts";
import { connectCase } from "./wide.ts";

/** Milliseconds in which the platform makes fast code of the candidates. */
const preparation = 8;

/** Milliseconds of one turn: clocks of browsers may count tenths of a millisecond. */
const turn = 1;

/** Turns in which the faster one shows, though others use the processor. */
const turns = 3;

/** Another number of sums than that of the table is taken if it needs at most this part of its time. */
const betterBy = 0.97;

/** The number of sums of a tile that is the fastest. Takes some hundredths of a second, with pauses of the event loop. */
export async function timeTiles(machine: ProvenMachine, kind: FactorKind): Promise<number> {
  const candidates = await Promise.all(sumsToCompare.map((sums) => prepareProduct(machine, kind, sums)));
  const begun = performance.now();
  let counts = candidates.map(() => 1);
  // The first runs are slow: then the candidates are timed with code that is made fast.
  while (performance.now() - begun < preparation) {
    counts = candidates.map((each) => Math.max(1, Math.ceil(turn / timeOf(each, 1))));
    await nextTurn();
  }
  const least = candidates.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < turns; round++) {
    for (const [place, each] of candidates.entries()) {
      const count = counts[place] ?? 1;
      least[place] = Math.min(least[place] ?? 0, timeOf(each, count) / count);
    }
    await nextTurn();
  }
  for (const each of candidates) each.close();
  return chooseSums(least);
}

/** The number of sums with the least time. `times`: of each of `sumsToCompare`. */
export function chooseSums([table = 0, ...others]: readonly number[]): number {
  const [first = 0, ...more] = sumsToCompare;
  const best = Math.min(...others);
  return best <= betterBy * table ? (more[others.indexOf(best)] ?? first) : first;
}

/** A product that takes some hundredths of a millisecond, and has whole tiles of each candidate. */
function prepareProduct(machine: ProvenMachine, kind: FactorKind, sums: number): Promise<PreparedCases> {
  const tiles = createTiles(async () => sums);
  tiles.keep({ ...narrowSums, [kind]: sums });
  return prepareCases({ ...machine, team: undefined, tiles }, [connectCase(kind === "floats", 48, 256, 64, 0)]);
}

function timeOf({ compute }: PreparedCases, count: number): number {
  const begun = performance.now();
  for (let time = 0; time < count; time++) compute();
  return performance.now() - begun;
}
