/** Attacks a surface with each of its kinds in turn, and reports the findings. */
import { setTimeout as wait } from "node:timers/promises";
import { randomFrom } from "./random.ts";
import type { Kind, Surface, Target } from "./surface.ts";
import { defaultLimits, type Limits, mebibytes, type Watched, watch } from "./watch.ts";

export interface AttackOptions {
  /** Seconds for each kind. */
  readonly seconds: number;
  readonly seed: number;
  /** The kinds to send; undefined: all. */
  readonly only?: readonly string[] | undefined;
  readonly limits?: Limits;
  /** Receives a line for each kind. */
  onLine?(line: string): void;
}

/** Results of one kind. */
export interface KindReport extends Watched {
  readonly kind: string;
  readonly rounds: number;
  /** Remarks of the kind. */
  readonly notes: readonly string[];
}

/** Milliseconds that a round may take beyond the time of its kind before it counts as stuck. */
const stuckAfter = 60_000;

/** Sends each kind for some time. A program that has ended is started again for the next kind. Throws if a kind does not exist. */
export async function attack(surface: Surface, options: AttackOptions): Promise<readonly KindReport[]> {
  const { only, onLine } = options;
  const reports: KindReport[] = [];
  let target = await surface.start();
  try {
    const missing = (only ?? []).filter((name) => !target.kinds.some((kind) => kind.name === name));
    if (missing.length > 0) {
      throw new Error(`${surface.name} has no kind ${missing}; it has ${target.kinds.map(({ name }) => name)}`);
    }
    const names = only ?? target.kinds.map(({ name }) => name);
    for (const name of names) {
      const kind = target.kinds.find((each) => each.name === name);
      if (kind === undefined) continue;
      const report = await sendKind(target, kind, options);
      reports.push(report);
      onLine?.(lineOf(surface, report));
      if (report.problems.length > 0) {
        await target.close();
        target = await surface.start();
      }
    }
  } finally {
    await target.close();
  }
  return reports;
}

async function sendKind(target: Target, kind: Kind, { seconds, seed, limits = defaultLimits }: AttackOptions) {
  const stop = watch(target, limits);
  const random = randomFrom(seed);
  const over = AbortSignal.timeout(seconds * 1000);
  const end = performance.now() + seconds * 1000;
  const problems: string[] = [];
  const notes: string[] = [];
  let rounds = 0;
  let isGone = false;
  const gone = target.program.ended.then(() => {
    isGone = true;
    return undefined;
  });
  do {
    const round = kind.send(random, over, (text) => notes.push(text)).then(() => undefined, String);
    const stuck = wait(seconds * 1000 + stuckAfter, "a round does not end", { ref: false });
    const problem = await Promise.race([round, gone, stuck]);
    rounds++;
    if (problem !== undefined) problems.push(problem);
  } while (performance.now() < end && problems.length === 0 && !isGone);
  const watched = await stop();
  return { ...watched, kind: kind.name, rounds, notes, problems: [...problems, ...watched.problems] };
}

/** A line for a reader. */
export function lineOf({ name }: Surface, { kind, rounds, notes, busy, silent, peak, problems }: KindReport): string {
  const memory = peak === undefined ? "memory not measured" : `${mebibytes(peak)} MiB at most`;
  const times = `longest silence ${Math.round(silent)} ms, ${Math.round(busy)} ms of processor time in it`;
  const found = problems.map((problem) => `\n  FOUND: ${problem}`).join("");
  const told = notes.map((note) => `\n  ${note}`).join("");
  return `${name} ${kind}: ${rounds} rounds, ${times}, ${memory}${told}${found}`;
}
