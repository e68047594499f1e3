/** A queue in a separate Redis, with workers of this process whose threads are functions. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasRedis, redisRemedy, startRedis, type TestRedis } from "@nnhal/test-kit/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openInputs } from "../inputs.ts";
import type { Pool } from "../pool.ts";
import { createFolderStore } from "../store.ts";
import { digestOf } from "../task.ts";
import { type BatchQueue, openQueue, type WorkerEvent } from "./index.ts";

const model = new TextEncoder().encode("a model");
const digest = digestOf(model);

/** A pool whose threads return the text of an input in capitals, and that counts. */
function textPool(compute?: (text: string) => Promise<void>): Pool & { readonly computed: string[] } {
  const computed: string[] = [];
  return {
    threads: 2,
    computed,
    async compute({ model: read }, { name, bytes }) {
      await read();
      const text = new TextDecoder().decode(bytes);
      await compute?.(text);
      if (text.startsWith("bad")) return { problem: `the input ${name} is bad` };
      computed.push(text);
      return { result: text.toUpperCase(), files: [] };
    },
    async close() {},
  };
}

/** A pool that computes one text until it is closed. */
function holdingPool(held: string): ReturnType<typeof textPool> {
  let end = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(new Error("the pool is closed"));
  });
  ended.catch(() => {});
  return { ...textPool(async (text) => void (text === held && (await ended))), close: async () => end() };
}

describe.skipIf(!hasRedis)(`a batch behind a queue${redisRemedy}`, () => {
  let folder: string;
  let redis: TestRedis;
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nnhal-queue-"));
    redis = await startRedis();
  });
  afterAll(async () => {
    await redis.stop();
    await rm(folder, { recursive: true });
  });

  /** A new queue with a batch over some files. */
  async function batchOf(
    files: Readonly<Record<string, string>>,
    more: { results?: boolean; store?: string; inline?: boolean; chunk?: number } = {},
  ) {
    const name = `queue${++count}`;
    const inputs = join(folder, name);
    await mkdir(inputs);
    const put = (file: string, text: string) => writeFile(join(inputs, file), text);
    for (const [file, text] of Object.entries(files)) await put(file, text);
    const results = more.results ? join(folder, `${name}-results`) : undefined;
    const queue = await openQueue({ url: redis.url, name });
    if (more.store === undefined) await queue.store.put(digest, model);
    const source = await openInputs(inputs, () => true);
    const id = "b1";
    const submit = (signal?: AbortSignal, onProgress?: () => void) =>
      queue.submit({
        record: {
          ...{ id, task: { model: digest, options: {} }, model: "m", root: inputs, inputs, results, store: more.store },
          ...{ inline: more.inline ?? false, created: 1 },
        },
        ...{ names: source.names, chunk: more.chunk ?? 4, signal, onProgress },
      });
    const list = async () => {
      const all: Record<string, unknown> = {};
      for await (const { name, result, problem } of queue.inputs(id)) all[name] = result ?? problem ?? null;
      return all;
    };
    return { name, inputs, put, results, queue, id, submit, list };
  }

  /** Lets a worker work until no input waits. */
  async function workOff(
    queue: BatchQueue,
    id: string,
    pool = textPool(),
    more: { store?: string; root?: string } = {},
  ) {
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool, lock: 30_000, ...more, onEvent: (event) => events.push(event) });
    await until(async () => {
      const { inputs, done, failed } = await queue.status(id);
      return done + failed === inputs;
    });
    await worker.close(10_000);
    return { pool, events };
  }

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  it("computes each content once, and lists all names with results or reasons", async () => {
    const files = { a: "one", b: "two", c: "one", d: "bad", e: "three", f: "one" };
    const { queue, id, submit, list } = await batchOf(files, { chunk: 2 });
    expect(await submit()).toEqual({ queued: 4, known: 2, unreadable: 0 });
    const { pool } = await workOff(queue, id);
    expect(pool.computed.sort()).toEqual(["one", "three", "two"]);
    expect(await list()).toEqual({ a: "ONE", b: "TWO", c: "ONE", d: "the input d is bad", e: "THREE", f: "ONE" });
    expect(await queue.status(id)).toMatchObject({
      inputs: 4,
      names: 6,
      done: 3,
      failed: 1,
      unreadable: 0,
      isComplete: true,
    });
    expect(await queue.failed(id, 10)).toEqual([{ name: "d", problem: "the input d is bad" }]);
    expect(await queue.queueStatus()).toMatchObject({ waiting: 0, active: 0, delayed: 0 });
    await queue.close();
  });

  it("goes on with a submission that was stopped, and takes new inputs", async () => {
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, `text ${index}`]));
    const { queue, id, submit, put, list } = await batchOf(files, { chunk: 3 });
    const stop = new AbortController();
    expect(await submit(stop.signal, () => stop.abort())).toMatchObject({ queued: 3 });
    expect((await queue.status(id)).isComplete).toBe(false);
    expect(await submit()).toEqual({ queued: 7, known: 3, unreadable: 0 });
    await workOff(queue, id);
    await put("f3", "changed");
    await put("more", "new");
    expect(await submit()).toEqual({ queued: 2, known: 9, unreadable: 0 });
    const { pool } = await workOff(queue, id);
    expect(pool.computed.sort()).toEqual(["changed", "new"]);
    expect(await list()).toMatchObject({ f0: "TEXT 0", f3: "CHANGED", more: "NEW" });
    await queue.close();
  });

  it("keeps results in a folder, and does not compute what another batch has left there", async () => {
    const { queue, id, submit, list, results = "" } = await batchOf({ a: "one", b: "two" }, { results: true });
    await submit();
    await workOff(queue, id);
    expect(await list()).toEqual({ a: "ONE", b: "TWO" });
    const kept = await readdir(results, { recursive: true });
    expect(kept.filter((file) => file.endsWith(".json"))).toHaveLength(2);
    // All of it is removed, except the folder.
    await queue.remove(id);
    expect(await queue.ids()).toEqual([]);
    await expect(queue.status(id)).rejects.toThrow(/has no batch b1$/);
    await queue.store.put(digest, model);
    await submit();
    const { pool, events } = await workOff(queue, id);
    expect(pool.computed).toEqual([]);
    expect(events).toEqual([{ kind: "chunk", batch: id, computed: 0, known: 2, failed: 0 }]);
    expect(await list()).toEqual({ a: "ONE", b: "TWO" });
    await queue.close();
  });

  it("fails inputs that are gone or have changed, alone; retry takes them again", async () => {
    const { queue, id, submit, put, inputs, list } = await batchOf({ a: "one", b: "two", c: "three" });
    await submit();
    await rm(join(inputs, "a"));
    await put("b", "changed");
    await workOff(queue, id);
    expect(await list()).toEqual({
      a: "cannot read the input a: the file does not exist",
      b: `cannot read the input b: it has changed since it was submitted: its SHA-256 is ${digestOf("changed")}`,
      c: "THREE",
    });
    await put("a", "one");
    await put("b", "two");
    expect(await queue.retry(id, 64)).toBe(2);
    expect(await queue.status(id)).toMatchObject({ done: 1, failed: 0 });
    await workOff(queue, id);
    expect(await list()).toEqual({ a: "ONE", b: "TWO", c: "THREE" });
    expect(await queue.retry(id, 64)).toBe(0);
    await queue.close();
  });

  it("fails no input for a worker that does not see their folder: another one computes them", async () => {
    const { queue, id, submit, list } = await batchOf({ a: "one", b: "two" });
    await submit();
    const events: WorkerEvent[] = [];
    const root = join(folder, "nowhere");
    const blind = queue.work({ pool: textPool(), lock: 30_000, root, onEvent: (event) => void events.push(event) });
    await until(async () => events.length > 0);
    await blind.close(10_000);
    const reason = expect.stringMatching(/^the folder of the inputs cannot be read on this machine .*nowhere/);
    expect(events).toEqual([{ kind: "again", batch: id, reason }]);
    expect(await queue.status(id)).toMatchObject({ done: 0, failed: 0 });
    await workOff(queue, id);
    expect(await list()).toEqual({ a: "ONE", b: "TWO" });
    await queue.close();
  });

  it("names inputs that cannot be read when they are submitted, and takes them at the next submission", async () => {
    const { queue, id, submit, put, list } = await batchOf({ a: "one" });
    await submit();
    const { record } = await queue.status(id);
    const gone = await queue.submit({
      record,
      async *names() {
        yield* ["a", "gone"];
      },
      chunk: 4,
    });
    expect(gone).toEqual({ queued: 0, known: 1, unreadable: 1 });
    expect((await list()).gone).toBe("cannot read the input gone: the file does not exist");
    await put("gone", "found");
    await submit();
    await workOff(queue, id);
    expect(await list()).toEqual({ a: "ONE", gone: "FOUND" });
    await queue.close();
  });

  it("lets inputs travel in the jobs", async () => {
    const { queue, id, submit, inputs, list } = await batchOf({ a: "one", b: "two" }, { inline: true });
    await submit();
    await rm(inputs, { recursive: true });
    await workOff(queue, id);
    expect(await list()).toEqual({ a: "ONE", b: "TWO" });
    await queue.close();
  });

  it("tries a chunk again while the store lacks the model, and takes no other model for it", async () => {
    const store = join(folder, "models");
    const { queue, id, submit, list } = await batchOf({ a: "one" }, { store });
    await submit();
    await createFolderStore(store).put(digest, new TextEncoder().encode("another"));
    const events: WorkerEvent[] = [];
    const onEvent = (event: WorkerEvent) => void events.push(event);
    const worker = queue.work({ pool: textPool(), lock: 30_000, onEvent });
    await until(async () => events.length > 0);
    expect(events[0]).toMatchObject({ kind: "again", reason: expect.stringContaining("it is another file") });
    await createFolderStore(store).put(digest, model);
    await until(async () => (await queue.status(id)).done === 1);
    await worker.close(10_000);
    expect(await list()).toEqual({ a: "ONE" });
    await queue.close();
  });

  it("finds the model where a later submission says that it is", async () => {
    const { queue, id, submit, list } = await batchOf(
      { a: "one", b: "two" },
      { store: join(folder, "gone"), chunk: 1 },
    );
    await submit();
    const { record } = await queue.status(id);
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool: textPool(), lock: 30_000, onEvent: (event) => void events.push(event) });
    await until(async () => events.length >= 2);
    expect(events[0]).toMatchObject({
      kind: "again",
      reason: expect.stringContaining(`is not in the store ${join(folder, "gone")}`),
    });
    await createFolderStore(join(folder, "there")).put(digest, model);
    await queue.submit({ record: { ...record, store: join(folder, "there") }, async *names() {}, chunk: 1 });
    await until(async () => (await queue.status(id)).done === 2);
    await worker.close(10_000);
    expect(await list()).toEqual({ a: "ONE", b: "TWO" });
    await queue.close();
  });

  it("cancels: jobs are taken from the queue, results stay, and a new submission queues the rest", async () => {
    const { queue, id, submit, list } = await batchOf({ a: "one", b: "two", c: "three" }, { chunk: 1 });
    await submit();
    expect(await queue.cancel(id)).toBe(3);
    expect(await queue.status(id)).toMatchObject({ inputs: 0, isCancelled: true });
    expect(await queue.queueStatus()).toMatchObject({ waiting: 0 });
    expect(await submit()).toEqual({ queued: 3, known: 0, unreadable: 0 });
    await workOff(queue, id);
    expect(await list()).toEqual({ a: "ONE", b: "TWO", c: "THREE" });
    await queue.close();
  });

  it("gives back what it has not computed within its grace, and another worker computes it", async () => {
    const { queue, id, submit, list } = await batchOf({ a: "one", b: "slow" });
    await submit();
    const slow = holdingPool("slow");
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool: slow, lock: 30_000, onEvent: (event) => void events.push(event) });
    await until(async () => slow.computed.length === 1);
    await worker.close(1);
    expect(events).toEqual([{ kind: "given back", batch: id }]);
    expect(await queue.status(id)).toMatchObject({ done: 1, failed: 0 });
    const { pool } = await workOff(queue, id);
    expect(pool.computed).toEqual(["slow"]);
    expect(await list()).toEqual({ a: "ONE", b: "SLOW" });
    await queue.close();
  });

  it("divides a chunk that its workers do not survive, and gives up the input alone", async () => {
    const { name, queue, id, submit, list } = await batchOf({ a: "one", b: "deadly", c: "three" });
    await submit();
    // Counts up BullMQ's counter of expired locks.
    const client = new Redis(redis.url);
    const stall = async (times: number, isChosen: (data: string) => boolean) => {
      for (const key of await client.keys(`bull:${name}:b1-*`))
        if (isChosen((await client.hget(key, "data")) ?? "")) await client.hset(key, "stc", times);
    };
    await stall(2, () => true);
    const pool = holdingPool("deadly");
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool, lock: 30_000, onEvent: (event) => void events.push(event) });
    await until(async () => (await queue.status(id)).done === 2);
    expect(events[0]).toEqual({ kind: "divided", batch: id, inputs: 3 });
    void worker.close(0);
    await until(async () => (await queue.queueStatus()).active === 0);
    await stall(3, (data) => data.includes('"b"'));
    await workOff(queue, id);
    expect(await list()).toMatchObject({
      a: "ONE",
      b: "the worker ended 3 times while it computed this input",
      c: "THREE",
    });
    await client.quit();
    await queue.close();
  });

  it("says why it cannot connect, without the password", async () => {
    await expect(openQueue({ url: "redis://:secret@127.0.0.1:1", name: "q" })).rejects.toThrow(
      /^cannot connect to the queue at redis:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/,
    );
    await expect(openQueue({ url: redis.url, name: "a:b" })).rejects.toThrow('it is not "a:b"');
  });
});
