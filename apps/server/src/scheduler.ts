/** Scheduling of a model's requests: a limited number of waiting places, runners, batches, and time limits. */
import type { RunTiming } from "@nnhal/network";
import { batchKey, canJoin, divided, joined, rowsOf } from "./batches.ts";
import type { Clock } from "./clock.ts";
import { messageOf, RequestError } from "./errors.ts";
import type { Runner } from "./runner.ts";
import { createShares, type Sized } from "./shares.ts";
import type { Tensor } from "./tensors.ts";

/** The limits of a model. */
export interface SchedulerOptions {
  /** Maximum requests that wait, in addition to those that compute. */
  readonly queue: number;
  /** Maximum rows of requests that compute together; 1: each computes alone. */
  readonly maxBatch: number;
  /** Milliseconds that a request waits for others to compute with. */
  readonly batchDelay: number;
  readonly clock: Clock;
  /** Opens another runner in place of one that has failed permanently. */
  reopen(): Promise<Runner>;
  onWarning(message: string): void;
}

/** The place of a request that has arrived completely. */
export interface Place {
  /** Leaves the place, if the request has not been given to `run`. */
  leave(): void;
}

/** A job to compute. */
export interface Job {
  /** Inputs in the model's order. */
  readonly inputs: readonly Tensor[];
  /**
   * True if the caller no longer needs their memory, so that it may be transferred to another thread. Default: false.
   */
  readonly isOwned?: boolean | undefined;
  /** Bytes of its inputs, which decide its turn (shares.ts). Default: 0. */
  readonly bytes?: number | undefined;
  /** Milliseconds from now in which it must be done. */
  readonly timeout?: number | undefined;
  /** If true, the device measures it. */
  readonly measure?: boolean | undefined;
  /** Aborts when the client has gone. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of a job, and times in milliseconds of the clock. */
export interface Done {
  readonly outputs: readonly Tensor[];
  readonly submitted: number;
  readonly started: number;
  readonly ended: number;
  /** Number of requests that computed together. */
  readonly together: number;
  /** Times that the device measured. */
  readonly timing: RunTiming | undefined;
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

interface Waiting extends Sized {
  readonly job: Job;
  readonly submitted: number;
  readonly deadline: number | undefined;
  readonly key: string;
  readonly rows: number | undefined;
  settled: boolean;
  /** True if it computes without others: it was in a batch that ended its runner. */
  isAlone: boolean;
  /** Called when it is settled while it computes. */
  onSettled: () => void;
  resolve(done: Done): void;
  reject(error: unknown): void;
}

/** Milliseconds before the next try to open a runner, longer each time. */
const retryDelays = [100, 200, 500, 1000, 2000, 5000];

export function createScheduler(runners: readonly Runner[], options: SchedulerOptions): Scheduler {
  const { queue, batchDelay, clock, reopen, onWarning } = options;
  let { maxBatch } = options;
  const idle: Runner[] = [...runners];
  const all = new Set(runners);
  /** Replacement runners that are being opened. */
  const openings = new Set<Promise<Runner>>();
  const places = new Set<Place>();
  /** In the order of their arrival. */
  let waiting: Waiting[] = [];
  const shares = createShares();
  let running = 0;
  let meanTime = 0;
  let cancelDelay: (() => void) | undefined;
  let closing = false;
  let onEmpty = () => {};

  const leave = (place: Place) => {
    places.delete(place);
    if (places.size === 0) onEmpty();
  };

  const expectPlace = () => {
    if (closing) throw new RequestError("unavailable", "the model is being unloaded");
    if (places.size >= runners.length + queue) {
      const seconds = Math.ceil((meanTime * places.size) / runners.length / 1000);
      throw new RequestError("busy", `the model has ${places.size} requests, which are the most it takes`, {
        retryAfter: Math.max(1, seconds),
      });
    }
  };

  const enter = (): Place => {
    expectPlace();
    const place: Place = { leave: () => leave(place) };
    places.add(place);
    return place;
  };

  const run = (place: Place, job: Job): Promise<Done> => {
    const { inputs, bytes = 0, timeout, signal } = job;
    const submitted = clock.now();
    return new Promise<Done>((resolve, reject) => {
      const undo: (() => void)[] = [];
      const settle = () => {
        one.settled = true;
        for (const each of undo) each();
        leave(place);
        one.onSettled();
      };
      const one: Waiting = {
        ...{
          job,
          bytes,
          submitted,
          settled: false,
          isAlone: false,
          onSettled() {},
          key: batchKey(inputs),
          rows: rowsOf(inputs),
        },
        deadline: timeout === undefined ? undefined : submitted + timeout,
        resolve(done) {
          if (one.settled) return;
          settle();
          resolve(done);
        },
        reject(error) {
          if (one.settled) return;
          settle();
          reject(error);
        },
      };
      if (timeout !== undefined) {
        const late = () => one.reject(new RequestError("late", `the request was to take ${timeout} ms at most`));
        undo.push(clock.after(timeout, late));
      }
      const abort = () => one.reject(new RequestError("cancelled", "the client has gone"));
      signal?.addEventListener("abort", abort, { once: true });
      undo.push(() => signal?.removeEventListener("abort", abort));
      if (signal?.aborted) return abort();
      shares.join(one, waiting);
      waiting.push(one);
      next();
    });
  };

  /** The requests that compute next: the first, and those that can join it. undefined: it waits for more. */
  const take = (): readonly Waiting[] | undefined => {
    waiting = waiting.filter(({ settled }) => !settled);
    const first = shares.next(waiting);
    if (first === undefined) return [];
    if (maxBatch === 1 || first.rows === undefined || first.isAlone) return [first];
    const batch: Waiting[] = [];
    let rows = 0;
    let isFull = false;
    for (const one of [first, ...waiting.filter((one) => one !== first)]) {
      if (one.key !== first.key || one.rows === undefined || one.isAlone) continue;
      if (batch.length > 0 && (rows + one.rows > maxBatch || !canJoin([...batch, one].map(({ job }) => job.inputs)))) {
        isFull = true;
        break;
      }
      batch.push(one);
      rows += one.rows;
    }
    const left = first.submitted + batchDelay - clock.now();
    if (isFull || rows >= maxBatch || left <= 0) return batch;
    cancelDelay?.();
    cancelDelay = clock.after(left, next);
    return undefined;
  };

  const next = () => {
    while (idle.length > 0) {
      const batch = take();
      if (batch === undefined || batch.length === 0) return;
      cancelDelay?.();
      cancelDelay = undefined;
      waiting = waiting.filter((one) => !batch.includes(one));
      shares.take(batch);
      const runner = idle.pop();
      if (runner !== undefined) void compute(runner, batch);
    }
  };

  const compute = async (runner: Runner, batch: readonly Waiting[]) => {
    running++;
    let usable: Runner | undefined = runner;
    try {
      await computeBatch(runner, batch);
    } catch (error) {
      const isFault = !(error instanceof RequestError) || error.kind === "failed" || error.kind === "unavailable";
      if (isFault && !(await runner.isAlive())) {
        usable = undefined;
        if (batch.length === 1) batch[0]?.reject(error);
        // One of them may be the cause: each is tried again alone.
        for (const one of batch) one.isAlone = true;
        waiting.unshift(...batch.filter(({ settled }) => !settled));
      } else if (batch.length === 1) batch[0]?.reject(refusalOf(error, runner));
      // A fault of one request does not affect the others.
      else await computeApart(runner, batch);
    }
    running--;
    if (usable === undefined) usable = await replaced(runner);
    if (usable !== undefined) idle.push(usable);
    next();
  };

  const computeBatch = async (runner: Runner, batch: readonly Waiting[]) => {
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
    const inputs = joined(batch.map(({ job }) => job.inputs));
    let outputs: readonly Tensor[];
    try {
      outputs = await runner.run(inputs, limits);
    } finally {
      // A run that was given up keeps its runner until the device has paused: clients that cancel repeatedly do not pile up
      // work.
      await end.wait;
    }
    const ended = clock.now();
    meanTime = meanTime === 0 ? ended - started : meanTime * 0.9 + (ended - started) * 0.1;
    const parts =
      batch.length === 1
        ? [outputs]
        : divided(
            outputs,
            batch.map(({ rows }) => rows ?? 0),
          );
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

  /** Opens another runner, as soon as possible; undefined if the model closes before. */
  const replaced = async (lost: Runner): Promise<Runner | undefined> => {
    all.delete(lost);
    await lost.close().catch(() => {});
    for (let round = 0; !closing || places.size > 0; round++) {
      try {
        const opening = reopen();
        openings.add(opening);
        const runner = await opening.finally(() => openings.delete(opening));
        if (closing && places.size === 0) {
          await runner.close().catch(() => {});
          return undefined;
        }
        all.add(runner);
        return runner;
      } catch (error) {
        onWarning(`an instance that failed cannot be opened again: ${messageOf(error)}`);
        if (all.size === 0) {
          const reason = new RequestError("unavailable", `the model has failed: ${messageOf(error)}`);
          for (const one of waiting) one.reject(reason);
        }
        await new Promise<void>((resolve) => {
          clock.after(retryDelays[Math.min(round, retryDelays.length - 1)] ?? 0, resolve);
        });
      }
    }
    return undefined;
  };

  return {
    get activity() {
      return { placed: places.size, waiting: waiting.filter(({ settled }) => !settled).length, running };
    },
    enter,
    expectPlace,
    run,
    async close() {
      closing = true;
      if (places.size > 0) {
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
        });
      }
      cancelDelay?.();
      // `replaced` closes them.
      await Promise.allSettled(openings);
      // A request that was given up can still compute: closing the runner waits for it.
      await Promise.all([...all].map((runner) => runner.close().catch(() => {})));
    },
  };
}

/**
 * Tracks the end of a run of some requests: `signal` aborts when none of them needs an answer any more, and `wait` resolves
 * when `reached` is called.
 */
function endOf(batch: readonly Waiting[]) {
  const controller = new AbortController();
  let isReached = false;
  let reached = () => {};
  const wait = new Promise<void>((resolve) => {
    reached = () => {
      isReached = true;
      resolve();
    };
  });
  for (const one of batch) {
    one.onSettled = () => {
      if (isReached || batch.some(({ settled }) => !settled)) return;
      controller.abort(new RequestError("cancelled", "all requests of the run have been given up"));
    };
  }
  return { signal: controller.signal, reached, wait };
}

/** Returns the error of a request that a working runner cannot compute: open extents prove right or wrong only in a run. */
function refusalOf(error: unknown, { description }: Runner): unknown {
  const isOpen = description.inputs.some(({ shape }) => shape.length === 0 || shape.includes(-1));
  if (!isOpen || !(error instanceof RequestError) || error.kind !== "failed") return error;
  return new RequestError("unprocessable", error.message, { cause: error });
}
