/** Scheduling of a model's requests: a limited number of waiting places, runners, batches, and time limits. */
import type { RunTiming } from "@nnhal/network";
import { divideOutputs, joinInputs } from "./batches.ts";
import type { Clock } from "./clock.ts";
import { RequestError } from "./errors.ts";
import { createPlaces, type Place } from "./places.ts";
import type { Runner } from "./runner.ts";
import { createRunnerPool, type RunnerPoolOptions } from "./runner-pool.ts";
import { createShares } from "./shares.ts";
import type { Tensor } from "./tensors.ts";
import { createWaiting, type Done, endOf, type Job, joinWaiting, type Waiting } from "./waiting.ts";

/** The limits of a model. */
export interface SchedulerOptions extends RunnerPoolOptions {
  /** Maximum requests that wait, in addition to those that compute. */
  readonly queue: number;
  /** Maximum rows of requests that compute together; 1: each computes alone. */
  readonly maxBatch: number;
  /** Milliseconds that a request waits for others to compute with. */
  readonly batchDelay: number;
}

/** Current work. */
export interface Activity {
  /** Number of requests that have a place: they wait or compute. */
  readonly placed: number;
  readonly waiting: number;
  readonly running: number;
}

/** The requests of one model. */
export interface Scheduler {
  readonly activity: Activity;
  /** Throws a RequestError that is `busy` if all places are taken, or `unavailable` if it closes. */
  enter(): Place;
  /** Throws as `enter` does, without taking a place. */
  expectPlace(): void;
  /** Rejects with a RequestError. */
  run(place: Place, job: Job): Promise<Done>;
  /** Takes no more requests, and closes the runners when those that have a place are done. */
  close(): Promise<void>;
}

export function createScheduler(runners: readonly Runner[], options: SchedulerOptions): Scheduler {
  const { queue, batchDelay, clock, onWarning } = options;
  let { maxBatch } = options;
  let meanTime = 0;
  const places = createPlaces(runners.length + queue, (taken) => (meanTime * taken) / runners.length / 1000);
  const pool = createRunnerPool(runners, options, {
    isNeeded: () => !places.isClosed || places.taken > 0,
    onNoneLeft(reason) {
      for (const one of waiting) one.reject(reason);
    },
  });
  /** In the order of their arrival. */
  let waiting: Waiting[] = [];
  const shares = createShares();
  let running = 0;
  let cancelDelay: (() => void) | undefined;

  const run = (place: Place, job: Job): Promise<Done> =>
    new Promise<Done>((resolve, reject) => {
      const one = createWaiting(job, clock, { resolve, reject, leave: place.leave });
      if (one.settled) return;
      shares.join(one, waiting);
      waiting.push(one);
      next();
    });

  /** The requests that compute next: the first, and those that can join it. undefined: it waits for more. */
  const take = (): readonly Waiting[] | undefined => {
    waiting = waiting.filter(({ settled }) => !settled);
    const first = shares.next(waiting);
    if (first === undefined) return [];
    const { batch, isFull } = joinWaiting(first, waiting, maxBatch);
    const left = first.submitted + batchDelay - clock.now();
    if (isFull || left <= 0) return batch;
    cancelDelay?.();
    cancelDelay = clock.after(left, next);
    return undefined;
  };

  const next = () => {
    while (pool.hasIdle) {
      const batch = take();
      if (batch === undefined || batch.length === 0) return;
      cancelDelay?.();
      cancelDelay = undefined;
      waiting = waiting.filter((one) => !batch.includes(one));
      shares.take(batch);
      const runner = pool.take();
      if (runner !== undefined) void compute(runner, batch);
    }
  };

  const compute = async (runner: Runner, batch: readonly Waiting[]) => {
    running++;
    let isUsable = true;
    try {
      await computeBatch(runner, batch);
    } catch (error) {
      const isFault = !(error instanceof RequestError) || error.kind === "failed" || error.kind === "unavailable";
      if (isFault && !(await runner.isAlive())) {
        isUsable = false;
        if (batch.length === 1) batch[0]?.reject(error);
        // One of them may be the cause: each is tried again alone.
        for (const one of batch) one.isAlone = true;
        waiting.unshift(...batch.filter(({ settled }) => !settled));
      } else if (batch.length === 1) batch[0]?.reject(refusalOf(error, runner));
      // A fault of one request does not affect the others.
      else await computeApart(runner, batch);
    }
    running--;
    if (isUsable) pool.giveBack(runner);
    else await pool.replace(runner);
    next();
  };

  const computeBatch = async (runner: Runner, batch: readonly Waiting[]) => {
    const { outputs, timing, started, ended } = await runJoined(runner, batch, clock);
    meanTime = meanTime === 0 ? ended - started : meanTime * 0.9 + (ended - started) * 0.1;
    const rows = batch.map((one) => one.rows ?? 0);
    const parts = batch.length === 1 ? [outputs] : divideOutputs(outputs, rows);
    if (parts === undefined) {
      maxBatch = 1;
      onWarning("an output has not as many rows as the inputs: requests compute one by one from now on");
      return computeApart(runner, batch);
    }
    for (const [index, one] of batch.entries()) {
      const part = parts[index] ?? [];
      one.resolve({ outputs: part, submitted: one.submitted, started, ended, together: batch.length, timing });
    }
  };

  const computeApart = async (runner: Runner, batch: readonly Waiting[]) => {
    for (const one of batch) {
      if (!one.settled) await computeBatch(runner, [one]).catch((error) => one.reject(refusalOf(error, runner)));
    }
  };

  return {
    get activity() {
      return { placed: places.taken, waiting: waiting.filter(({ settled }) => !settled).length, running };
    },
    enter: places.enter,
    expectPlace: places.expectPlace,
    run,
    async close() {
      await places.close();
      cancelDelay?.();
      await pool.close();
    },
  };
}

/** Runs requests of one key as one. */
async function runJoined(runner: Runner, batch: readonly Waiting[], clock: Clock) {
  const started = clock.now();
  let timing: RunTiming | undefined;
  const onTiming = (measured: RunTiming) => {
    timing = measured;
  };
  // A deadline applies to the whole batch, so the latest one is passed.
  const end = endOf(batch);
  const deadlines = batch.map(({ deadline }) => deadline ?? Number.POSITIVE_INFINITY);
  const timeout = Math.max(...deadlines) - started;
  const isMeasured = batch.some(({ job }) => job.measure);
  const limits = {
    // Joined inputs lie in new memory.
    ...((batch.length > 1 || batch[0]?.job.isOwned) && { isOwned: true }),
    ...(isMeasured && { onTiming }),
    ...(Number.isFinite(timeout) && { timeout: Math.max(timeout, 0.001) }),
    ...{ signal: end.signal, onEnd: end.reached },
  };
  const inputs = joinInputs(batch.map(({ job }) => job.inputs));
  let outputs: readonly Tensor[];
  try {
    outputs = await runner.run(inputs, limits);
  } finally {
    // A run that was given up keeps its runner until the device has paused: clients that cancel repeatedly do not pile up
    // work.
    await end.wait;
  }
  return { outputs, timing, started, ended: clock.now() };
}

/** Returns the error of a request that a working runner cannot compute: open extents prove right or wrong only in a run. */
function refusalOf(error: unknown, { description }: Runner): unknown {
  const isOpen = description.inputs.some(({ shape }) => shape.length === 0 || shape.includes(-1));
  if (!isOpen || !(error instanceof RequestError) || error.kind !== "failed") return error;
  return new RequestError("unprocessable", error.message, { cause: error });
}
