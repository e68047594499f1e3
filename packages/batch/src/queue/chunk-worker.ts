/**
 * BullMQ's worker for a queue with untrusted content: the rules for retrying and keeping a job are ours, not the job's, and an
 * unreadable job is handed on as an empty one.
 */
import { type Job, type JobJson, type JobsOptions, Worker } from "bullmq";
import type { Connection } from "./connection.ts";

/** Options of jobs: retries after 1, 2, 4, 8 and 16 seconds, since a store or a folder may come back. */
export const jobOptions = {
  attempts: 6,
  backoff: { type: "exponential", delay: 1000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies JobsOptions;

/** A worker whose jobs may hold any data. */
export class ChunkWorker extends Worker<unknown> {
  /** Jobs with fields at which BullMQ can fail when they are done. */
  private readonly strange = new WeakSet<Job<unknown>>();

  /** Returns true if `repairJob` must check a job before it is done. */
  isStrange(job: Job<unknown>): boolean {
    return this.strange.has(job);
  }

  protected override createJob(given: JobJson, id: string): Job<unknown> {
    // Of the fields that a job can have, such as parents and schedules, `submit` and BullMQ write only these.
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

/** Number of jobs that are checked together. */
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
/** Fields that `submit` does not write. */
const never = () => false;

/** Fields that BullMQ reads or counts up before there is a job and after it, with a test for readable values. */
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
 * Removes from the active jobs the fields that BullMQ cannot read and at which it fails before there is a job or when it is
 * done. The jobs come again when their locks expire, and can then be read.
 */
export async function repairJobs(connection: Connection): Promise<void> {
  const { redis, queue } = connection;
  for (const id of await redis.lrange(queue.toKey("active"), 0, mostActive - 1)) await repairJob(connection, id);
}

/** Repairs one job in the same way. */
export async function repairJob({ redis, queue }: Connection, id: string): Promise<void> {
  const names = Object.keys(fields);
  const key = queue.toKey(id);
  const texts = await redis.hmget(key, ...names);
  const broken = names.filter((name, place) => texts[place] && fields[name]?.(texts[place]) === false);
  if (broken.length > 0) await redis.hdel(key, ...broken);
}
