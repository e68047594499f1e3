/**
 * BullMQ's worker, for a queue in which anything may lie: how a job is tried again and kept is ours to say, not the job's, and a job that
 * cannot be read is handed on as one that holds nothing.
 */
import { type Job, type JobJson, type JobsOptions, Worker } from "bullmq";
import type { Connection } from "./connection.ts";

/** How jobs are kept and tried again: after 1, 2, 4, 8 and 16 seconds, since a store or a folder may come back. */
export const jobOptions = {
  attempts: 6,
  backoff: { type: "exponential", delay: 1000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies JobsOptions;

/** A worker whose jobs may hold anything. */
export class ChunkWorker extends Worker<unknown> {
  /** Jobs with fields at which BullMQ may fail when they are done. */
  private readonly strange = new WeakSet<Job<unknown>>();

  /** Whether `repairJob` has to look at a job before it is done. */
  isStrange(job: Job<unknown>): boolean {
    return this.strange.has(job);
  }

  protected override createJob(given: JobJson, id: string): Job<unknown> {
    // Of all that a job can say of itself, such as parents and schedules, these are what `submit` and BullMQ write.
    const { name, data, timestamp, attemptsMade, attemptsStarted, stalledCounter } = given;
    const counts = {
      attemptsMade: countOf(attemptsMade),
      attemptsStarted: countOf(attemptsStarted),
      stalledCounter: countOf(stalledCounter),
    };
    const numbers = [given.attemptsMade, given.attemptsStarted, given.stalledCounter];
    const { parentKey, parent, repeatJobKey, deduplicationId } = given;
    const isStrange = [parentKey, parent, repeatJobKey, deduplicationId].some(Boolean) || !numbers.every(isSafe);
    const json = { id, name, timestamp, ...counts, opts: jobOptions, progress: 0, failedReason: "", returnvalue: "" };
    let job: Job<unknown>;
    try {
      job = super.createJob({ ...json, data }, id);
    } catch {
      job = super.createJob({ ...json, data: "null" }, id);
    }
    if (isStrange) this.strange.add(job);
    return job;
  }
}

const isSafe = (value: number) => Number.isSafeInteger(value) && value >= 0;
const countOf = (value: number) => (isSafe(value) ? value : 0);

/** Jobs that are looked at together. */
const mostActive = 1000;

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const isCount = (text: string) => /^\d{1,15}$/.test(text);
/** `submit` writes no such field. */
const never = () => false;

/** What BullMQ reads or counts up before there is a job and after it, and what it can read. */
const fields: Readonly<Record<string, (text: string) => boolean>> = {
  opts: (text) => text.startsWith("{") && isJson(text),
  progress: isJson,
  parent: isJson,
  atm: isCount,
  ats: isCount,
  stc: isCount,
  parentKey: never,
  rjk: never,
  deid: never,
};

/**
 * Takes from the active jobs the fields that BullMQ cannot read, at which it fails before there is a job, or when it is done. They come again,
 * as all do whose lock runs out, and can then be read.
 */
export async function repairJobs(connection: Connection): Promise<void> {
  const { redis, queue } = connection;
  for (const id of await redis.lrange(queue.toKey("active"), 0, mostActive - 1)) await repairJob(connection, id);
}

/** The same for one job. */
export async function repairJob({ redis, queue }: Connection, id: string): Promise<void> {
  const names = Object.keys(fields);
  const key = queue.toKey(id);
  const texts = await redis.hmget(key, ...names);
  const broken = names.filter((name, place) => texts[place] && fields[name]?.(texts[place]) === false);
  if (broken.length > 0) await redis.hdel(key, ...broken);
}
