/** A request that waits: it is settled once, by its result, its time limit, or its client that has gone; and those that compute together. */
import type { RunTiming } from "@nnhal/network";
import { batchKey, canJoin, rowsOf } from "./batches.ts";
import type { Clock } from "./clock.ts";
import { RequestError } from "./errors.ts";
import type { Sized } from "./shares.ts";
import type { Tensor } from "./tensors.ts";

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

/** See the file's head. */
export interface Waiting extends Sized {
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

/** The receiver of a request's result. */
interface Settling {
  resolve(done: Done): void;
  reject(error: unknown): void;
  /** Called once, before the result is told. */
  leave(): void;
}

/** The waiting request of a job. It is settled already if its client has gone. */
export function createWaiting(job: Job, clock: Clock, { resolve, reject, leave }: Settling): Waiting {
  const { inputs, bytes = 0, timeout, signal } = job;
  const submitted = clock.now();
  const undo: (() => void)[] = [];
  const settle = (tell: () => void) => {
    if (one.settled) return;
    one.settled = true;
    for (const each of undo) each();
    leave();
    one.onSettled();
    tell();
  };
  const one: Waiting = {
    ...{ job, bytes, submitted, settled: false, isAlone: false, key: batchKey(inputs), rows: rowsOf(inputs) },
    deadline: timeout === undefined ? undefined : submitted + timeout,
    onSettled() {},
    resolve: (result) => settle(() => resolve(result)),
    reject: (error) => settle(() => reject(error)),
  };
  if (timeout !== undefined) {
    const late = () => one.reject(new RequestError("late", `the request was to take ${timeout} ms at most`));
    undo.push(clock.after(timeout, late));
  }
  const abort = () => one.reject(new RequestError("cancelled", "the client has gone"));
  signal?.addEventListener("abort", abort, { once: true });
  undo.push(() => signal?.removeEventListener("abort", abort));
  if (signal?.aborted) abort();
  return one;
}

/** The requests that can compute with the first: it and others of its key, up to `maxBatch` rows. */
export function joinWaiting(
  first: Waiting,
  waiting: readonly Waiting[],
  maxBatch: number,
): { readonly batch: readonly Waiting[]; readonly isFull: boolean } {
  if (maxBatch === 1 || first.rows === undefined || first.isAlone) return { batch: [first], isFull: true };
  const batch: Waiting[] = [];
  let rows = 0;
  for (const one of [first, ...waiting.filter((one) => one !== first)]) {
    if (one.key !== first.key || one.rows === undefined || one.isAlone) continue;
    const fits = rows + one.rows <= maxBatch && canJoin([...batch, one].map(({ job }) => job.inputs));
    if (batch.length > 0 && !fits) return { batch, isFull: true };
    batch.push(one);
    rows += one.rows;
  }
  return { batch, isFull: rows >= maxBatch };
}

/**
 * Tracks the end of a run of some requests: `signal` aborts when none of them needs an answer any more, and `wait` resolves
 * when `reached` is called.
 */
export function endOf(batch: readonly Waiting[]) {
  const controller = new AbortController();
  let isReached = false;
  let reach = () => {};
  const wait = new Promise<void>((resolve) => {
    reach = () => {
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
  return { signal: controller.signal, reached: reach, wait };
}
