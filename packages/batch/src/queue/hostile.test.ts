/**
 * A queue with foreign content, and a Redis that refuses commands or loses data: the worker pauses, drops jobs that are not
 * chunks, and continues.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasRedis, redisRemedy, startRedis, type TestRedis } from "@nnhal/test-kit/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openInputs } from "../inputs.ts";
import type { Pool } from "../pool.ts";
import { digestOf } from "../task.ts";
import { type BatchQueue, openQueue, type WorkerEvent, type WorkerOptions } from "./index.ts";
import { shortenDigest } from "./ledger.ts";

const model = new TextEncoder().encode("a model");
const digest = digestOf(model);

describe.skipIf(!hasRedis)(`a queue that is not trusted${redisRemedy}`, () => {
  let folder: string;
  let redis: TestRedis;
  let client: Redis;
  let count = 0;
  const servers: Server[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nnhal-hostile-"));
    await mkdir(join(folder, "in"));
    for (const name of ["a", "b", "c"]) await writeFile(join(folder, "in", name), name);
    await writeFile(join(folder, "secret"), "secret");
    redis = await startRedis();
    client = new Redis(redis.url);
  });
  afterAll(async () => {
    for (const server of servers) server.close().closeAllConnections();
    client.disconnect();
    await redis.stop();
    await rm(folder, { recursive: true });
  });

  /** Threads that return the name of an input. */
  const pool: Pool = {
    threads: 1,
    async compute({ model: read }, { name }) {
      await read();
      return { result: name, files: [] };
    },
    async close() {},
  };

  async function open() {
    const name = `hostile${++count}`;
    const queue = await openQueue({ url: redis.url, name });
    await queue.store.put(digest, model);
    const root = join(folder, "in");
    const { names } = await openInputs(root, () => true);
    const recordOf = (id: string) => ({
      ...{ id, task: { model: digest, options: {} }, model: "m", root, inputs: root, inline: false, created: 1 },
    });
    const submit = (id = "honest", more = {}, chunk = 1) =>
      queue.submit({ record: { ...recordOf(id), ...more }, names, chunk });
    const key = (id: string, part = "") => `nnhal:${name}:batch:${id}${part}`;
    /** Puts a job before all others, in BullMQ's format. */
    const add = async (id: string, fields: Readonly<Record<string, string>>) => {
      await client.hset(`bull:${name}:${id}`, { name: "chunk", opts: "{}", timestamp: "1", delay: "0", ...fields });
      await client.rpush(`bull:${name}:wait`, id);
      await client.zadd(`bull:${name}:marker`, 0, "0");
    };
    return { name, queue, recordOf, submit, key, add };
  }

  /** Works until a condition holds, and returns the reported events. */
  async function work(queue: BatchQueue, isSo: () => Promise<boolean>, more: Partial<WorkerOptions> = {}) {
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool, lock: 30_000, onEvent: (event) => void events.push(event), ...more });
    await until(isSo);
    await worker.close(10_000);
    return events;
  }
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const isDone =
    (queue: BatchQueue, id = "honest") =>
    async () =>
      (await queue.status(id)).done === 3;
  const isEmpty = (queue: BatchQueue) => async () => {
    const { waiting, active, delayed } = await queue.queueStatus();
    return waiting + active + delayed === 0;
  };

  it("drops jobs that are not chunks, says why and counts them, and computes the others", async () => {
    const { queue, submit, add } = await open();
    await submit();
    const input = ["a", shortenDigest(digestOf("a"))];
    const data: readonly unknown[] = [
      null,
      5,
      "text",
      [],
      {},
      { batch: 5, inputs: [input] },
      { batch: "a:b", inputs: [input] },
      { batch: "honest" },
      { batch: "honest", inputs: {} },
      { batch: "honest", inputs: [] },
      { batch: "honest", inputs: Array(10_001).fill(input) },
      { batch: "honest", inputs: [null] },
      { batch: "honest", inputs: [["a"]] },
      { batch: "honest", inputs: [["a", []]] },
      { batch: "honest", inputs: [["a", "short"]] },
      { batch: "honest", inputs: [["", input[1]]] },
      { batch: "honest", inputs: [["a\0", input[1]]] },
      { batch: "honest", inputs: [["x".repeat(4097), input[1]]] },
      { batch: "honest", inputs: [[5, input[1]]] },
      { batch: "honest", inputs: [[...input, 5]] },
      { batch: "honest", inputs: [[...input, "", ""]] },
    ];
    for (const [place, each] of data.entries()) await add(`job${place}`, { data: JSON.stringify(each) });
    await add("cut", { data: '{"batch": "hon' });
    await add("backoff", { data: "{}", opts: '{"attempts":1000000,"backoff":{"type":"none"}}', stc: "-1" });
    await add("parents", { data: "{}", parentKey: "bull:other:1", rjk: "a:b:c:d:e", defa: "at once" });
    await add("orphan", { data: "{}", parentKey: "null", deid: "x" });
    await add("counts", { data: "{}", atm: "x" });
    const events = await work(queue, async () => (await isDone(queue)()) && (await isEmpty(queue)()));
    const dropped = events.flatMap((event) => (event.kind === "dropped" ? [event] : []));
    expect(dropped.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(data.length + 5);
    expect(await queue.queueStatus()).toMatchObject({ dropped: data.length + 5 });
    expect(dropped.map(({ reason }) => reason)).toContain("expected a SHA-256 in 43 characters, got a list of 0");
    expect(events.filter(({ kind }) => !["dropped", "chunk"].includes(kind))).toEqual([]);
    await queue.close();
  });

  it("reads jobs whose own fields BullMQ cannot read, after their lock", async () => {
    const { queue, submit, add } = await open();
    await submit();
    for (const opts of ["null", "{", '"x"']) await add(`opts${opts.length}`, { data: "{}", opts });
    await add("progress", { data: "{}", progress: "{" });
    await add("parent", { data: "{}", parent: "{" });
    await add("started", { data: "{}", ats: "x" });
    const events = await work(queue, async () => (await isDone(queue)()) && (await isEmpty(queue)()), { lock: 200 });
    expect(await queue.queueStatus()).toMatchObject({ dropped: expect.toSatisfy((dropped: number) => dropped >= 6) });
    expect(events.filter(({ kind }) => kind === "trouble").length).toBeLessThan(10);
    await queue.close();
  });

  it.each([
    ["not JSON", "{"],
    ["a list", "[]"],
    ["of another batch", { id: "other" }],
    ["without a model", { task: { options: {} } }],
    ["with a model that is a path", { task: { model: "../../x", options: {} } }],
    ["with options that are none", { task: { model: digest, options: null } }],
    ["with deep options", { task: { model: digest, options: JSON.parse(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`) } }],
    ["with a root that is a number", { root: 5 }],
    ["with a store that is a list", { store: [] }],
    ["with a zero in a folder", { results: "a\0b" }],
  ])("drops jobs of a batch whose record is %s, and hides no other batch", async (_, record) => {
    const { name, queue, submit, key, recordOf } = await open();
    await submit();
    await submit("damaged");
    const text = typeof record === "string" ? record : JSON.stringify({ ...recordOf("damaged"), ...record });
    await client.hset(key("damaged"), "record", text);
    const events = await work(queue, async () => (await isDone(queue)()) && (await isEmpty(queue)()));
    expect(events).toContainEqual({
      kind: "dropped",
      jobs: 1,
      reason: expect.stringContaining("the batch damaged is damaged: "),
    });
    await expect(queue.status("damaged")).rejects.toThrow(
      new RegExp(`^the batch damaged in the queue ${name} at .* is damaged: expected .*nnhal batch cancel --remove`),
    );
    await queue.remove("damaged");
    expect(await queue.ids()).toEqual(["honest"]);
    await queue.close();
  });

  it("drops jobs of a batch whose keys hold something else", async () => {
    const { queue, submit, key } = await open();
    await submit("damaged");
    await client.del(key("damaged", ":states"));
    await client.set(key("damaged", ":states"), "text");
    await submit();
    const events = await work(queue, async () => (await isDone(queue)()) && (await isEmpty(queue)()));
    expect(events).toContainEqual({ kind: "dropped", jobs: 1, reason: expect.stringContaining("WRONGTYPE") });
    await queue.close();
  });

  it("rests before it tries again what Redis refuses to note, gives it never up, and goes on with other batches", async () => {
    const { name, queue, submit, key } = await open();
    await submit("refused");
    await submit();
    // Everything except the states of one batch: XADD is refused until it is allowed.
    const allowed = [
      "~bull:*",
      `~nnhal:${name}:model:*`,
      `~${key("honest")}*`,
      `~${key("refused")}`,
      `~${key("refused", ":states")}`,
    ];
    await client.call("ACL", "SETUSER", "worker", "on", ">pw", ...allowed, "+@all");
    const own = await openQueue({ url: `${redis.url}?username=worker&password=pw`, name });
    const events: WorkerEvent[] = [];
    const worker = own.work({ pool, lock: 30_000, onEvent: (event) => void events.push(event) });
    await until(isDone(queue));
    await until(async () => events.filter(({ kind }) => kind === "again").length >= 3);
    // Time in which a worker without a pause tries a hundred times.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const again = events.filter((event) => event.kind === "again");
    expect(again.length).toBeLessThan(10);
    expect(again[0]).toMatchObject({
      batch: "refused",
      reason: expect.stringMatching(/answers: .*(NOPERM|permission|key)/i),
    });
    expect(await queue.status("refused")).toMatchObject({ done: 0, failed: 0 });
    await client.call("ACL", "SETUSER", "worker", "~*");
    await until(isDone(queue, "refused"));
    await worker.close(10_000);
    await own.close();
    await queue.close();
  });

  it("asks a Redis that refuses all changes seldom", async () => {
    const { name, queue, submit } = await open();
    await submit();
    await client.call("ACL", "SETUSER", "reader", "on", ">pw", "~*", "+@all", "-hset", "-hmset", "-hincrby");
    const own = await openQueue({ url: `${redis.url}?username=reader&password=pw`, name });
    const callsOf = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info("commandstats"))?.[1]);
    const events: WorkerEvent[] = [];
    const worker = own.work({ pool, lock: 30_000, onEvent: (event) => void events.push(event) });
    await until(async () => events.length > 0);
    const before = await callsOf();
    // Time in which a worker without a pause asks hundreds of times.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await callsOf()) - before).toBeLessThan(10);
    expect(events).toEqual([{ kind: "trouble", reason: expect.stringMatching(/answers: .*(permission|can't run)/) }]);
    await worker.close(10_000);
    await own.close();
    await queue.close();
  });

  it("notes nothing of a batch that Redis has lost: the submission says so, and a new one begins anew", async () => {
    const { name, queue, recordOf, submit, key } = await open();
    const lost = queue.submit({
      record: recordOf("honest"),
      async *names() {
        yield "a";
        for (const each of await client.keys(`*${name}*`)) await client.del(each);
        yield* ["b", "c"];
      },
      chunk: 1,
    });
    await expect(lost).rejects.toThrow(
      `the queue ${name} no longer has the batch honest, as after a start of Redis without its data; the same nnhal batch submit begins it anew`,
    );
    expect(await client.exists(key("honest"), key("honest", ":states"))).toBe(0);
    await queue.store.put(digest, model);
    expect(await submit()).toEqual({ queued: 3, known: 0, unreadable: 0 });
    await work(queue, isDone(queue));
    expect(await queue.status("honest")).toMatchObject({ inputs: 3, done: 3, isComplete: true });
    await queue.close();
  });

  it("a worker whose batch is removed while it computes notes nothing, and goes on", async () => {
    const { queue, submit, key } = await open();
    await submit("removed");
    let isRemoved = false;
    const removing: Pool = {
      ...pool,
      async compute(task, input) {
        if (!isRemoved) await queue.remove("removed");
        isRemoved = true;
        return pool.compute(task, input);
      },
    };
    const events = await work(queue, async () => isRemoved && (await isEmpty(queue)()), { pool: removing });
    expect(events).toEqual([]);
    expect(await client.exists(key("removed"), key("removed", ":states"))).toBe(0);
    await queue.close();
  });

  it("knows of inputs that wait without a job, and queues them again", async () => {
    const { name, queue, submit } = await open();
    await submit("other");
    await submit();
    expect(await queue.withoutJob("honest")).toBe(0);
    expect(await queue.retry("honest", 64)).toBe(0);
    for (const id of await client.lrange(`bull:${name}:wait`, 0, -1))
      if (id.startsWith("honest-")) await client.lrem(`bull:${name}:wait`, 0, id);
    for (const each of await client.keys(`bull:${name}:honest-*`)) await client.del(each);
    expect(await queue.withoutJob("honest")).toBe(3);
    expect(await queue.withoutJob("other")).toBe(0);
    expect(await queue.retry("honest", 64)).toBe(3);
    await work(queue, isDone(queue));
    expect(await queue.withoutJob("honest")).toBe(0);
    await queue.close();
  });

  it("a store that does not answer holds up no other batch", async () => {
    const { queue, submit } = await open();
    const asked: string[] = [];
    const server = createServer((request) => void asked.push(request.url ?? ""));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A server that listens at a port has an address.
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}`;
    for (let place = 0; place < 6; place++) await submit(`slow${place}`, { store: `${address}/${place}` });
    await submit();
    const events = await work(queue, isDone(queue), { modelPatience: 10, allow: [address, folder] });
    expect(asked).toHaveLength(4);
    expect(events.map(({ kind }) => kind)).toEqual(["chunk", "chunk", "chunk"]);
    await queue.close();
  });

  it("asks no server and reads no folder that a queue must not name, and says why", async () => {
    const { queue, submit } = await open();
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end(model);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A server that listens at a port has an address.
    const { port } = server.address() as AddressInfo;
    await submit("s1", { store: `http://127.0.0.1:${port}/models` }, 3);
    await submit("s2", { store: `http://localhost:${port}/models` }, 3);
    await submit("s3", { store: "/etc" }, 3);
    await submit("s4", { results: "/proc/self" }, 3);
    await submit("s5", { root: folder }, 3).catch(() => {});
    const events: WorkerEvent[] = [];
    const worker = queue.work({ pool, lock: 30_000, onEvent: (event) => void events.push(event) });
    const reasons = () =>
      new Map(events.flatMap((event) => (event.kind === "again" ? [[event.batch, event.reason] as const] : [])));
    await until(async () => reasons().size === 4);
    await worker.close(10_000);
    expect(reasons().get("s1")).toContain("expected a server of the public network, got 127.0.0.1");
    expect(reasons().get("s2")).toContain("expected a server of the public network, got localhost");
    expect(reasons().get("s3")).toContain("the store /etc is in a folder of the system");
    expect(reasons().get("s4")).toContain("the folder of results /proc/self");
    expect(asked).toEqual([]);
    const strict = await open();
    await strict.submit("s1", {}, 3);
    const told: WorkerEvent[] = [];
    const allowing = strict.queue.work({
      pool,
      lock: 30_000,
      allow: ["/mnt"],
      onEvent: (event) => void told.push(event),
    });
    await until(async () => told.length > 0);
    await allowing.close(10_000);
    expect(told[0]).toMatchObject({
      kind: "again",
      reason: expect.stringContaining("is in none of the allowed folders"),
    });
    await queue.close();
    await strict.queue.close();
  });

  it("an input outside of its folder fails alone, and its digest is not told", async () => {
    const { queue, recordOf, add } = await open();
    await queue.submit({ record: recordOf("b"), async *names() {}, chunk: 1 });
    const inputs = ["a", "../secret", join(folder, "secret")].map((name) => [
      name,
      shortenDigest(digestOf(name.slice(-1))),
    ]);
    await add("b-1", { data: JSON.stringify({ batch: "b", inputs: [inputs[0]] }) });
    for (const [place, input] of inputs.slice(1).entries())
      await add(`b-x${place}`, {
        data: JSON.stringify({ batch: "b", inputs: [[input[0], shortenDigest(digestOf(`${place}`))]] }),
      });
    await work(queue, async () => {
      const { done, failed } = await queue.status("b");
      return done === 1 && failed === 2;
    });
    const states = await client.hvals(`nnhal:hostile${count}:batch:b:states`);
    expect(states.filter((state) => state.startsWith("f"))).toEqual(
      expect.arrayContaining([expect.stringContaining("it lies outside of its folder")]),
    );
    expect(states.join()).not.toContain(digestOf("secret"));
    await queue.close();
  });
});
