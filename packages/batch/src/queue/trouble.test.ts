/**
 * A Redis that is full, unavailable, too old, or configured unsuitably: each fault is reported, no data is lost, and no wait is
 * endless.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasRedis, redisRemedy, startRedis, type TestRedis } from "@nnhal/test-kit/redis";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openInputs } from "../inputs.ts";
import type { Pool } from "../pool.ts";
import { digestOf } from "../task.ts";
import { type BatchQueue, openQueue, type WorkerEvent } from "./index.ts";

const model = new TextEncoder().encode("a model");
const noMemory = "OOM command not allowed when used memory > 'maxmemory'.";

describe.skipIf(!hasRedis)(`a queue in a Redis that has trouble${redisRemedy}`, () => {
  let folder: string;
  let redis: TestRedis;
  let client: Redis;
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nnhal-trouble-"));
    for (const name of ["a", "b", "c"]) await writeFile(join(folder, name), name);
    redis = await startRedis();
    client = new Redis(redis.url);
    client.on("error", () => {});
  });
  const setMemory = (bytes: string, policy = "noeviction") =>
    client.config("SET", "maxmemory", bytes, "maxmemory-policy", policy);
  afterEach(() => setMemory("0"));
  afterAll(async () => {
    client.disconnect();
    await redis.stop();
    await rm(folder, { recursive: true });
  });

  /** A new queue, and a function that submits three inputs. */
  async function open(signal?: AbortSignal) {
    const name = `trouble${++count}`;
    const notes: string[] = [];
    const queue = await openQueue({ url: redis.url, name }, { signal, onTrouble: (note) => void notes.push(note) });
    const { names } = await openInputs(folder, () => true);
    const task = { model: digestOf(model), options: {} };
    const record = { id: "b1", task, model: "m", root: folder, inputs: folder, inline: false, created: 1 };
    const submit = async () => {
      await queue.store.put(task.model, model);
      return queue.submit({ record, names, chunk: 3 });
    };
    return { name, queue, notes, submit };
  }

  /** Threads that return the name of an input. `before`: runs before each. */
  const poolOf = (before: () => Promise<unknown> = async () => {}): Pool => ({
    threads: 1,
    async compute(_, { name }) {
      await before();
      return { result: name, files: [] };
    },
    async close() {},
  });

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  const resultsOf = async (queue: BatchQueue) => {
    const all: unknown[] = [];
    for await (const { name, result, problem } of queue.inputs("b1")) all.push([name, result ?? problem ?? null]);
    return all;
  };
  const computed = ["a", "b", "c"].map((name) => [name, name]);

  it("refuses options that nothing knows", async () => {
    const given = { isPatient: false, patient: true };
    const opening = openQueue({ url: redis.url, name: "options" }, given);
    await expect(opening).rejects.toThrow('openQueue: unknown option "patient": did you mean "isPatient"?');
    const { queue } = await open();
    const options = { pool: poolOf(), lock: 1000, roots: folder };
    expect(() => queue.work(options)).toThrow('work: unknown option "roots": did you mean "root"?');
    await queue.close();
  });

  it("says that the memory is full, and goes on when it is not", async () => {
    const { queue, submit } = await open();
    const { put } = queue.store;
    await setMemory("1");
    await expect(put(digestOf(model), model)).rejects.toThrow(`the queue at ${redis.url} answers: ${noMemory}`);
    await setMemory("0");
    expect(await submit()).toMatchObject({ queued: 3 });
    await setMemory("1");
    await expect(submit()).rejects.toThrow(noMemory);
    await expect(queue.retry("b1", 1)).rejects.toThrow(noMemory);
    expect(await queue.status("b1")).toMatchObject({ inputs: 3, done: 0 });
    expect(await resultsOf(queue)).toEqual(["a", "b", "c"].map((name) => [name, null]));
    // Commands that free memory need none.
    expect(await queue.cancel("b1")).toBe(1);
    expect(await queue.status("b1")).toMatchObject({ inputs: 0, isCancelled: true });
    await queue.remove("b1");
    expect(await queue.ids()).toEqual([]);
    await setMemory("0");
    expect(await submit()).toMatchObject({ queued: 3 });
    expect(await queue.status("b1")).toMatchObject({ inputs: 3, isCancelled: false });
    await queue.close();
  });

  it("lets a worker say once that it gets no chunk, and compute when there is memory", async () => {
    const { queue, submit } = await open();
    await submit();
    await setMemory("1");
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool: poolOf(), lock: 30_000, onEvent: (event) => void events.push(event) });
    await until(async () => events.length > 0);
    // Time in which a worker without a pause asks thousands of times.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(events).toEqual([{ kind: "trouble", reason: `the queue at ${redis.url} answers: ${noMemory}` }]);
    await setMemory("0");
    await until(async () => (await queue.status("b1")).done === 3);
    await worker.close(10_000);
    expect(await resultsOf(queue)).toEqual(computed);
    await queue.close();
  });

  it("gives up no chunk whose results Redis does not take, also at the last attempt", async () => {
    const { name, queue, submit } = await open();
    await submit();
    for (const key of await client.keys(`bull:${name}:b1-*`)) await client.hset(key, "atm", 5);
    const events: WorkerEvent[] = [];
    let isFull = false;
    const fill = async () => {
      if (!isFull) await setMemory("1");
      isFull = true;
    };
    const worker = queue.work({ pool: poolOf(fill), lock: 200, onEvent: (event) => void events.push(event) });
    await until(async () => events.some(({ kind }) => kind === "again"));
    expect(events[0]).toMatchObject({ kind: "again", reason: expect.stringContaining(noMemory) });
    await worker.close(10_000);
    expect(await queue.status("b1")).toMatchObject({ inputs: 3, done: 0, failed: 0 });
    await setMemory("0");
    const next = queue.work({ pool: poolOf(), lock: 200 });
    await until(async () => (await queue.status("b1")).done === 3);
    await next.close(10_000);
    expect(await resultsOf(queue)).toEqual(computed);
    await queue.close();
  });

  it.each([
    ["1000000000", "allkeys-lru", true],
    ["0", "allkeys-lru", false],
    ["1000000000", "volatile-lru", false],
    ["1000000000", "noeviction", false],
  ])("with maxmemory %s and %s: refuses a batch that it may lose is %s", async (memory, policy, isRefused) => {
    await setMemory(memory, policy);
    const { queue, submit, notes } = await open();
    if (isRefused) {
      await expect(submit()).rejects.toThrow(/takes no batch while it may lose it: .*maxmemory-policy allkeys-lru/);
      expect(notes).toEqual([expect.stringContaining("set maxmemory-policy noeviction")]);
    } else {
      expect(await submit()).toMatchObject({ queued: 3 });
      expect(notes).toEqual([]);
    }
    await queue.close();
  });

  it("says that states are lost, instead of waiting for them or counting without them", async () => {
    const { name, queue, submit } = await open();
    await submit();
    const worker = queue.work({ pool: poolOf(), lock: 30_000 });
    await until(async () => (await queue.status("b1")).done === 3);
    await worker.close(10_000);
    await client.del(`nnhal:${name}:batch:b1:states`);
    await expect(queue.status("b1")).rejects.toThrow("has lost the states of at least 3 inputs of the batch b1");
    await queue.remove("b1");
    await expect(queue.status("b1")).rejects.toThrow("has no batch b1");
    await queue.close();
  });

  it("does not wait for a Redis that is away when it is told to stop", async () => {
    const stop = new AbortController();
    const { queue, notes } = await open(stop.signal);
    await redis.pause();
    const asked = queue.ids();
    await until(async () => notes.length > 0);
    stop.abort();
    await expect(asked).rejects.toThrow(`the queue at ${redis.url} is away, and was not waited for`);
    await queue.close();
    await redis.restart("SIGKILL");
  });

  it("refuses a Redis that is too old, a database that is not there, and a wrong password", async () => {
    const path = join(folder, ".old");
    const server = createServer((socket) => {
      const real = connect(redis.url);
      const old = (data: Buffer) => data.toString("latin1").replace(/redis_version:\d+\.\d/, "redis_version:6.1");
      real.on("data", (data) => socket.write(old(data), "latin1"));
      real.on("error", () => socket.destroy());
      socket.on("error", () => real.destroy()).on("close", () => real.destroy());
      socket.pipe(real);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    for (const isPatient of [false, true])
      await expect(openQueue({ url: path, name: "q" }, { isPatient })).rejects.toThrow(
        /^cannot connect to the queue at .*old: it is Redis 6\.1\S*; batches need 6\.2 or newer$/,
      );
    server.close();
    await expect(openQueue({ url: `${redis.url}?db=99`, name: "q" })).rejects.toThrow(
      `cannot connect to the queue at ${redis.url}: ERR DB index is out of range`,
    );
    await client.config("SET", "requirepass", "right");
    await expect(openQueue({ url: `${redis.url}?password=wrong`, name: "q" })).rejects.toThrow(
      /^cannot connect to the queue at \S+socket: WRONGPASS/,
    );
    await expect(openQueue({ url: redis.url, name: "q" })).rejects.toThrow(
      /NOAUTH.*the password belongs in the address/,
    );
    await client.config("SET", "requirepass", "");
    await (await openQueue({ url: `${redis.url}?db=15`, name: "q" })).close();
  });

  it.each(["http://user:secret@host", "redis://:secret@127.0.0.1:99999", "amqp://host"])(
    "refuses %s as the address of a queue",
    async (url) => {
      const refused = openQueue({ url, name: "q" });
      await expect(refused).rejects.toThrow(/^a queue is at redis:\/\/HOST:PORT, .* it is not /);
      await expect(refused).rejects.not.toThrow("secret");
    },
  );
});
