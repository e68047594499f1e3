/**
 * The suite of stress: a device used by many at once, in processes that are left alone, closed at random moments or killed. Each process
 * ends as SUCCESS, FAILURE, HANG or CRASH; meanwhile another one shows that the driver is alive.
 */
import type { ChildProcess } from "node:child_process";
import type { Device } from "@nnhal/types";
import type { OnProgress } from "../isolated.ts";
import { readNetwork } from "../network.ts";
import { createRandom } from "../random/random.ts";
import type { CaseResult } from "../result.ts";
import type { StressJob, StressMessage, StressOutcome, StressTally } from "./job.ts";
import { type StressTarget, stressTargets } from "./targets.ts";
import { doStressJob } from "./work.ts";

/** Options of runStress. */
export interface StressOptions {
  /** Starts a process with an IPC channel that calls `serveStressJob`. */
  readonly start: (job: StressJob) => ChildProcess;
  /** A device for one more target, in this process, which a driver that crashes ends. Default: none. */
  readonly device?: Device | undefined;
  /** Milliseconds that each target works. Default 5000. */
  readonly duration?: number | undefined;
  /** Milliseconds after that in which a process must end; then it hangs. Default 30 000. */
  readonly margin?: number | undefined;
  /** A network for all targets but the random ones: the path of a .tflite file. Default: small models. */
  readonly network?: string | undefined;
  /** Default 1. */
  readonly seed?: number | undefined;
  /**
   * The part by which executions may be slower while models are prepared in another process, after subtracting the slowdown of
   * a plain loop in the executing process: that is the machine's. Default 0.5, as in MLTS.
   */
  readonly mostSlowdown?: number | undefined;
  /** Bytes by which a warm process may grow. Default 32 MiB. */
  readonly mostGrowth?: number | undefined;
  /** Targets whose names contain this text, in any case. Default: all. */
  readonly filter?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** Milliseconds in which a process must begin its work. */
const startup = 120_000;

/** Outcome of a process, with its report. */
interface Ended {
  readonly outcome: StressOutcome;
  readonly reason: string;
  readonly tally: StressTally | undefined;
  /** The device does not support the network. */
  readonly isUnsupported?: boolean;
}

/** The number of targets that a text selects, with the one in this process if there is a device. */
export function stressSize({ filter, device }: Pick<StressOptions, "filter" | "device">): number {
  return chooseTargets(filter, device !== undefined).length;
}

function chooseTargets(filter = "", isHere: boolean): readonly StressTarget[] {
  return stressTargets.filter(
    ({ name, processes }) => (processes > 0 || isHere) && `crash/${name}`.includes(filter.toLowerCase()),
  );
}

/** Runs the targets, one after the other. Rejects if the network cannot be read. */
export async function* runStress(options: StressOptions): AsyncGenerator<CaseResult> {
  const { network, device, filter } = options;
  if (network !== undefined) readNetwork(network);
  let done = 0;
  for (const target of chooseTargets(filter, device !== undefined)) {
    options.onProgress?.(done++, target.name);
    const start = { name: `crash/${target.name}`, subject: target.name };
    yield { ...start, ...(await runTarget(target, options)) };
  }
}

async function runTarget(
  target: StressTarget,
  options: StressOptions,
): Promise<Pick<CaseResult, "verdict" | "reason" | "measured">> {
  const { duration = 5000, seed = 1, network, device, mostSlowdown = 0.5, mostGrowth = 32 * 2 ** 20 } = options;
  const { work, lanes, processes, killed } = target;
  const models = network !== undefined && target.models === "common" ? { file: network } : target.models;
  const job: StressJob = { work, models, lanes, milliseconds: duration, seed };
  const alive = watchProcess(options, { ...job, work: "alive", models: "common", lanes: 1 });
  const all: Ended[] = [];
  const expected: StressOutcome[] = [];
  if (target.name === "performance-degradation") {
    all.push(...(await besideLoading(options, job, mostSlowdown)));
    expected.push("SUCCESS", "SUCCESS", "SUCCESS");
  } else if (processes === 0 && device !== undefined) {
    all.push(await hereWithin(device, job, options));
    expected.push("SUCCESS");
  } else {
    const random = createRandom(seed);
    const killedProcesses = Math.round(processes * killed);
    const running = Array.from({ length: processes }, (_, number) => {
      const isKilled = number < killedProcesses;
      expected.push(isKilled ? "CRASH" : "SUCCESS");
      const killAfter = isKilled ? duration * (0.25 + 0.25 * random.next()) : undefined;
      return watchProcess(options, { ...job, seed: seed + 31 * number }, killAfter);
    });
    all.push(...(await Promise.all(running)));
  }
  const living = await alive;
  const unsupported = all.find(({ isUnsupported }) => isUnsupported);
  if (unsupported !== undefined) return { verdict: "unsupported", reason: unsupported.reason };

  const measured = describeMeasured(target, all);
  const problems = [
    ...all.flatMap(({ outcome, reason }, index) => (outcome === expected[index] ? [] : [`${outcome}: ${reason}`])),
    ...(living.outcome === "SUCCESS" ? [] : [`the driver is not alive beside it: ${living.outcome}: ${living.reason}`]),
    ...(target.name === "performance-degradation" ? slowdownProblem(all, mostSlowdown) : []),
    ...growthProblem(all, mostGrowth),
  ];
  if (problems.length === 0) return { verdict: "passed", measured };
  return { verdict: "failed", reason: [...new Set(problems)].join("\n"), measured };
}

function describeMeasured({ killed }: StressTarget, all: readonly Ended[]): string {
  const counts = new Map<StressOutcome, number>();
  for (const { outcome } of all) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const outcomes = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  const sum = (of: (tally: StressTally) => number) =>
    all.reduce((total, { tally }) => total + (tally ? of(tally) : 0), 0);
  const growth = all.flatMap(({ tally }) => (tally?.growth === undefined ? [] : [tally.growth]));
  return [
    `${outcomes}${killed > 0 ? " (killed)" : ""}`,
    `${sum(({ executions }) => executions)} executions of ${sum(({ prepared }) => prepared)} prepared models`,
    ...growth.map((bytes) => `growth ${(bytes / 2 ** 20).toFixed(1)} MiB`),
  ].join("; ");
}

/**
 * Maximum number of measurements of executions during preparations, before they count as too slow: other work of the machine
 * comes and goes.
 */
const mostMeasurements = 3;

/**
 * Measures executions alone, and while a process prepares models; returns the last measurement, unless an earlier one is good
 * enough.
 */
async function besideLoading(options: StressOptions, job: StressJob, mostSlowdown: number): Promise<Ended[]> {
  let all: Ended[] = [];
  for (let measurement = 0; measurement < mostMeasurements; measurement++) {
    const alone = await watchProcess(options, job);
    const loading = watchProcess(options, { ...job, work: "load", seed: job.seed + 1 });
    all = [alone, await watchProcess(options, job), await loading];
    if (slowdownProblem(all, mostSlowdown).length === 0) break;
  }
  return all;
}

function slowdownProblem([alone, beside]: readonly Ended[], mostSlowdown: number): string[] {
  if (!alone?.tally || !beside?.tally) return [];
  // A machine on which the loop happened to be faster makes no driver slower.
  const machine = Math.max(beside.tally.loop / alone.tally.loop, 1);
  const slowdown = beside.tally.mean / alone.tally.mean / machine - 1;
  if (!(slowdown > mostSlowdown)) return [];
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  return [
    `executions take ${beside.tally.mean.toFixed(2)} ms while models are prepared and ${alone.tally.mean.toFixed(2)} ms alone, and a loop of the process ${beside.tally.loop.toFixed(2)} and ${alone.tally.loop.toFixed(2)} ms: ${percent(slowdown)} more than the loop, expected at most ${percent(mostSlowdown)}`,
  ];
}

function growthProblem(all: readonly Ended[], mostGrowth: number): string[] {
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return all.flatMap(({ tally }) =>
    (tally?.growth ?? 0) > mostGrowth
      ? [`growth of the process: expected at most ${mib(mostGrowth)}, got ${mib(tally?.growth ?? 0)}`]
      : [],
  );
}

/** A process that does a job. `killAfter`: milliseconds from when it works until it is killed. */
function watchProcess(
  { start, margin = 30_000 }: Pick<StressOptions, "start" | "margin">,
  job: StressJob,
  killAfter?: number,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = start(job);
    let killing: NodeJS.Timeout | undefined;
    const end = (outcome: StressOutcome, reason: string, tally?: StressTally, isUnsupported = false) => {
      clearTimeout(hanging);
      clearTimeout(killing);
      child.removeAllListeners();
      // It has nothing left to do, or does not react.
      child.kill("SIGKILL");
      resolve({ outcome, reason, tally, isUnsupported });
    };
    const watch = (milliseconds: number, reason: string) => setTimeout(() => end("HANG", reason), milliseconds);
    let hanging = watch(startup, `the process has not begun its work after ${startup} ms`);
    child.on("message", (message: StressMessage) => {
      if (message.kind === "ready") {
        clearTimeout(hanging);
        const reason = `the process has not ended ${margin} ms after its ${job.milliseconds} ms`;
        hanging = watch(job.milliseconds + margin, reason);
        if (killAfter !== undefined) killing = setTimeout(() => child.kill("SIGKILL"), killAfter);
      }
      if (message.kind === "success") end("SUCCESS", "the process ended before it was killed", message.tally);
      if (message.kind === "failure") end("FAILURE", message.reason);
      if (message.kind === "unsupported") end("FAILURE", message.reason, undefined, true);
    });
    child.on("error", (error) => end("CRASH", error.message));
    child.on("exit", (code, signal) => end("CRASH", `the process ended with ${signal ?? `exit code ${code}`}`));
  });
}

/** A job in this process. One that blocks the thread for ever cannot be ended here. */
async function hereWithin(device: Device, job: StressJob, { margin = 30_000 }: StressOptions): Promise<Ended> {
  let hanging: NodeJS.Timeout | undefined;
  const hang = new Promise<Ended>((resolve) => {
    const reason = `it has not ended ${margin} ms after its ${job.milliseconds} ms`;
    hanging = setTimeout(() => resolve({ outcome: "HANG", reason, tally: undefined }), job.milliseconds + margin);
  });
  const work = doStressJob(device, job).then(
    (tally): Ended => ({ outcome: "SUCCESS", reason: "", tally }),
    (error): Ended => ({
      outcome: "FAILURE",
      reason: error instanceof Error ? error.message : String(error),
      tally: undefined,
    }),
  );
  try {
    return await Promise.race([work, hang]);
  } finally {
    clearTimeout(hanging);
  }
}
