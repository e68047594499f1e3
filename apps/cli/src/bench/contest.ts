/**
 * A contest: all contestants prepare and warm up, then take turns round by round, so that what else the machine does hits all of them.
 */
import type { Unavailable } from "@nnhal/backend";
import { messageOf } from "../failure.ts";
import { oneLine } from "../text.ts";
import type { ContestantId } from "./contestant.ts";
import type { Footprint, Opened, Prepared, Station } from "./station.ts";
import type { WarmUp } from "./warm-up.ts";

/** A contestant and where it runs. */
export interface Entry {
  readonly id: ContestantId;
  readonly station: Station;
}

/** Why a contestant has no times: it is not there, it cannot run the network, or it failed while it ran. */
export type Problem = Unavailable | { readonly cannot: string } | { readonly failed: string };

/** Measurements of a contestant; an absent one was not reached. */
export interface Measured {
  readonly id: ContestantId;
  readonly problem?: Problem;
  readonly opened?: Opened;
  readonly prepared?: Prepared;
  readonly warmUp?: WarmUp;
  /** Milliseconds of the runs of each round. */
  readonly rounds: readonly (readonly number[])[];
  /** Milliseconds of processors, for all runs of all rounds together. */
  readonly cpu: number;
  readonly footprint?: Footprint;
}

/** Options of a contest. */
export interface ContestOptions {
  /** Default: as many as fit a minute, from 3 to 20. */
  readonly rounds?: number | undefined;
  /** Called when the number of rounds is known. */
  onRounds?(rounds: number): unknown;
  /** Ends the contest early: what has been measured until then is the result. */
  readonly signal: AbortSignal;
  /**
   * Milliseconds for each piece of work of a contestant: one that takes longer has failed, and its station is closed. Default: 10 minutes for
   * preparing, then 2 minutes, or as long as 20 runs.
   */
  readonly timeLimit?: number | undefined;
  /** Called before each piece of work. `done` is the work before it, of all that `workOf` counts. */
  onProgress(done: number, what: string): void;
  title(id: ContestantId): string;
}

/** Milliseconds that a turn should take, and how many runs it has at least and at most; of long runs it has one. */
const turn = { milliseconds: 60, least: 2, most: 500, long: 1000 };

/** The rounds of a contest whose number is not given, and the milliseconds that they should take. */
export const usualRounds = { least: 3, most: 20, milliseconds: 60_000 };

/** Milliseconds for preparing, which includes the first run, and for all else at least, if no limit is set; and the runs that must fit. */
const usualLimit = { prepare: 600_000, least: 120_000, runs: 20 };

/** Milliseconds that a piece of work may take, of a contestant of which one run takes so many if that is known. */
export function limitOf(given: number | undefined, run: number | undefined): number {
  if (given !== undefined) return given;
  return run === undefined ? usualLimit.prepare : Math.max(usualLimit.least, usualLimit.runs * run);
}

/** The rounds that fit a minute, for contestants whose fastest runs take so many milliseconds. */
export function roundsFor(leasts: readonly number[]): number {
  const { least, most, milliseconds } = usualRounds;
  // A turn begins with a run that does not count.
  const round = leasts.reduce((sum, each) => sum + each * (runsOfTurn(each) + 1), 0);
  return Math.min(most, Math.max(least, Math.floor(milliseconds / round)));
}

/** About how long pieces of work take, in turns: a process has to start before it prepares, and a warm-up has several windows. */
const weights = { prepare: 20, warmUp: 8, turn: 1, finish: 4 };

/** The work of a contest, in turns. */
export function workOf(entries: number, rounds: number): number {
  return entries * (weights.prepare + weights.warmUp + weights.turn * rounds + weights.finish);
}

type Draft = { -readonly [Key in keyof Measured]: Measured[Key] } & { rounds: (readonly number[])[] };

/** Runs the contest. Resolves to one result for each entry, in order. */
export async function contest(entries: readonly Entry[], options: ContestOptions): Promise<readonly Measured[]> {
  const { signal, timeLimit, onProgress, onRounds, title } = options;
  const drafts = entries.map(({ id }): Draft => ({ id, rounds: [], cpu: 0 }));
  let done = 0;
  const step = async (
    kind: keyof typeof weights,
    place: number,
    what: string,
    work: (station: Station, draft: Draft) => Promise<void>,
  ) => {
    const [entry, draft] = [entries[place], drafts[place]];
    if (entry === undefined || draft === undefined || signal.aborted) return;
    onProgress(done, `${title(entry.id)}: ${what}`);
    done += weights[kind];
    if (draft.problem !== undefined) return;
    try {
      const limit = limitOf(timeLimit, draft.warmUp?.least ?? draft.prepared?.first);
      await inTime(work(entry.station, draft), { what, signal, timeLimit: limit });
    } catch (error) {
      if (signal.aborted) return;
      draft.problem = { failed: oneLine(messageOf(error)) };
      // Its process may still compute, and must not disturb the others.
      void entry.station.close().catch(() => {});
    }
  };
  for (const place of entries.keys()) {
    await step("prepare", place, "preparing", prepare);
    await step("warmUp", place, "warming up", async (station, draft) => {
      draft.warmUp = await station.warmUp();
    });
  }
  const able = drafts.filter(({ problem }) => problem === undefined);
  const rounds = options.rounds ?? roundsFor(able.map(({ warmUp }) => warmUp?.least ?? 0));
  onRounds?.(rounds);
  for (let round = 0; round < rounds; round++) {
    for (const offset of entries.keys()) {
      // Each contestant follows the same one as seldom as possible: the order turns and changes its direction.
      const place = ((round % 2 === 0 ? offset : -offset) + round + entries.length * rounds) % entries.length;
      await step("turn", place, `round ${round + 1} of ${rounds}`, async (station, draft) => {
        const { times, cpu } = await station.run(runsOfTurn(draft.warmUp?.least ?? 0));
        draft.rounds.push(times);
        draft.cpu += cpu;
      });
    }
  }
  for (const place of entries.keys()) {
    await step("finish", place, "memory", async (station, draft) => {
      draft.footprint = await station.finish();
    });
  }
  return drafts;
}

/** Number of runs in a turn of a contestant whose fastest run took so many milliseconds. */
export function runsOfTurn(milliseconds: number): number {
  const wanted = milliseconds > 0 ? Math.round(turn.milliseconds / milliseconds) : turn.most;
  const least = milliseconds < turn.long ? turn.least : 1;
  return Math.min(turn.most, Math.max(least, wanted));
}

async function prepare(station: Station, draft: Draft): Promise<void> {
  const opened = await station.open();
  if ("unavailable" in opened) {
    draft.problem = opened;
    return;
  }
  draft.opened = opened;
  const prepared = await station.prepare();
  if ("cannot" in prepared) draft.problem = prepared;
  else draft.prepared = prepared;
}

/** The result of work; rejects if it takes longer than the limit, and at once if the signal says so. */
export async function inTime<Result>(
  work: Promise<Result>,
  { what, signal, timeLimit }: Pick<ContestOptions, "signal"> & { readonly timeLimit: number; readonly what: string },
): Promise<Result> {
  const limit = AbortSignal.timeout(Math.ceil(timeLimit));
  try {
    return await untilAborted(work, AbortSignal.any([signal, limit]));
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    throw new Error(`${what} took longer than the time limit of ${timeLimit / 1000} s`);
  }
}

/** The result of work; rejects at once if the signal says so. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error("interrupted"));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
