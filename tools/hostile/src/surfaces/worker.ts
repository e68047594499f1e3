/** `nnhal-worker`, through a Redis in which all may write: jobs, records and stores. Meanwhile it computes the inputs of an honest batch. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startSource } from "@nnhal/test-kit/processes";
import { hasRedis, startRedis } from "@nnhal/test-kit/redis";
import { programOf } from "../programs.ts";
import { heapEnvironment, type Kind, type Surface } from "../surface.ts";
import { residentOf } from "../watch.ts";
import { openRedis, type RedisClient } from "../worker/redis-client.ts";
import { openModel } from "./server.ts";

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();
const shortDigest = (bytes: Uint8Array | string) => sha256(bytes).toString("base64url");

/** undefined: redis-server is not installed. */
export const workerSurface: Surface | undefined = hasRedis
  ? {
      name: "worker",
      says: "nnhal-worker: jobs and records of a queue, and stores that it names",
      start: startWorker,
    }
  : undefined;

/** Bytes of `--model-bytes`, and how many models are fetched at a time. */
const [modelBytes, fetches] = [32 * 2 ** 20, 4];
/** Jobs of a round. */
const jobsAtOnce = 50;
/** Milliseconds in which the worker must have computed an honest input. */
const honestLimit = 30_000;

async function startWorker() {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-hostile-"));
  const redis = await startRedis();
  const client = await openRedis(redis.url);
  const model = openModel("FLOAT32");
  const digest = sha256(model).toString("hex");
  await client.ask("SET", `nnhal:nnhal:model:${digest}`, Buffer.from(model));
  const begin = (id: string, more: object = {}) => {
    const task = { model: digest, options: { device: "reference", hybrid: "quantised", top: 1 } };
    const record = { id, task, model: "m", root: folder, inputs: folder, inline: false, created: 1, ...more };
    return client.ask("HSET", batchKey(id), "record", JSON.stringify(record), "open", "1");
  };
  await begin("honest");
  const store = await startStore();
  const args = [
    "--queue",
    redis.url,
    "--threads",
    "1",
    "--quiet",
    "--allow",
    folder,
    "--allow",
    store.address,
    "--model-bytes",
    String(modelBytes),
  ];
  const program = startSource(programOf("worker"), args, { env: heapEnvironment });
  await program.says("ready ");
  let next = 0;
  /** Lets the worker compute an honest input. */
  const compute = async () => {
    const number = next++;
    const bytes = new Uint8Array(Float32Array.of(number).buffer);
    writeFileSync(join(folder, `${number}.bin`), bytes);
    const input = shortDigest(bytes);
    await addJob(client, `honest-${number}`, JSON.stringify({ batch: "honest", inputs: [[`${number}.bin`, input]] }));
    for (const end = performance.now() + honestLimit; performance.now() < end; await wait(20)) {
      const state = String(await client.ask("HGET", `${batchKey("honest")}:states`, input));
      if (state.startsWith("d")) return;
      if (state.startsWith("f")) throw new Error(`an honest input failed: ${state.slice(1)}`);
    }
    throw new Error(`an honest input was not computed in ${honestLimit} ms`);
  };
  await compute();
  const idle = residentOf(program.child.pid) ?? 0;
  return {
    program,
    // SECURITY.md: the idle memory, the arriving models, twice, and 256 MiB for jobs and for garbage.
    memoryLimit: idle + 2 * fetches * modelBytes + 256 * 2 ** 20,
    ask: compute,
    kinds: kindsOf(client, begin, store.address),
    async close() {
      program.child.kill("SIGKILL");
      await program.ended;
      client.close();
      store.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const batchKey = (id: string) => `nnhal:nnhal:batch:${id}`;

/** Puts a job into the queue as BullMQ keeps it. */
async function addJob(client: RedisClient, id: string, data: string, fields: readonly string[] = []): Promise<void> {
  await client.ask(
    "HSET",
    `bull:nnhal:${id}`,
    "name",
    "chunk",
    "data",
    data,
    "timestamp",
    "1",
    "delay",
    "0",
    ...fields,
  );
  await client.ask("LPUSH", "bull:nnhal:wait", id);
  await client.ask("ZADD", "bull:nnhal:marker", "0", "0");
}

/** Resolves when the worker has taken all jobs, or rejects after a time. */
async function waitUntilEmpty(client: RedisClient): Promise<void> {
  for (const end = performance.now() + honestLimit; performance.now() < end; await wait(20))
    if ((await client.ask("LLEN", "bull:nnhal:wait")) === "0") return;
  throw new Error(`the jobs of a round were not taken in ${honestLimit} ms`);
}

/** A store whose bodies do not end, or do not come. */
async function startStore() {
  const server = createServer((request, response) => {
    if (!request.url?.startsWith("/endless")) return;
    const more = () => {
      while (response.writable && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", more).on("error", () => {});
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens at a port has an address.
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const input = ["a.bin", shortDigest("a")];

/** Values that a job can hold, most of which are not chunks. */
const values: readonly unknown[] = [
  null,
  7,
  "text",
  [],
  {},
  { batch: "honest" },
  { batch: ["honest"], inputs: [input] },
  { batch: "../honest", inputs: [input] },
  { batch: "honest", inputs: [["a", []]] },
  { batch: "honest", inputs: [["a", {}]] },
  { batch: "honest", inputs: [[null, input[1]]] },
  { batch: "honest", inputs: [[input[0], input[1], 5]] },
  { batch: "honest", inputs: Array(20_000).fill(input) },
  { batch: "honest", inputs: { length: 1e9 } },
  { batch: "gone", inputs: [input] },
  { batch: "__proto__", inputs: [input] },
];

function kindsOf(
  client: RedisClient,
  begin: (id: string, more?: object) => Promise<unknown>,
  store: string,
): readonly Kind[] {
  let next = 0;
  const one = <Item>(items: readonly Item[], random: () => number) => items[Math.floor(random() * items.length)];
  const round = async (make: (id: string) => Promise<void>) => {
    for (let job = 0; job < jobsAtOnce; job++) await make(`hostile-${next++}`);
    await waitUntilEmpty(client);
  };
  return [
    {
      name: "jobs",
      send: (random) => round((id) => addJob(client, id, JSON.stringify(one(values, random)))),
    },
    {
      name: "bytes",
      send: (random) =>
        round((id) => {
          const text = JSON.stringify({ batch: "honest", inputs: [input] });
          const bytes = Buffer.from(text.repeat(1 + Math.floor(random() * 3)));
          for (let change = 0; change < 3; change++) bytes[Math.floor(random() * bytes.length)] = random() * 256;
          return addJob(client, id, bytes.toString("latin1"));
        }),
    },
    {
      name: "fields",
      send: (random) =>
        round((id) => {
          const name = one(["opts", "atm", "ats", "stc", "rjk", "parentKey", "defa", "progress", "stacktrace"], random);
          const value = one(["null", "{", "-1", "1e9", '{"attempts":1e9,"backoff":0}', "x:y:z:a:b"], random);
          return addJob(client, id, JSON.stringify(one(values, random)), [name ?? "", value ?? ""]);
        }),
    },
    {
      name: "records",
      send: (random) =>
        round(async (id) => {
          const more = one([{ task: 5 }, { root: [] }, { store: 7 }, { inline: "no" }, { id: "other" }], random);
          await begin(id, more);
          await addJob(client, `${id}-1`, JSON.stringify({ batch: id, inputs: [input] }));
        }),
    },
    {
      name: "large",
      async send() {
        await addJob(
          client,
          `large-${next++}`,
          JSON.stringify({ batch: "honest", inputs: [["a", "x".repeat(2 ** 24)]] }),
        );
      },
    },
    {
      name: "places",
      send: (random) =>
        round(async (id) => {
          const places = [
            "/",
            "/etc",
            "/proc/self",
            "/dev",
            "http://127.0.0.1:1/x",
            "http://[::1]/",
            "file:///",
            "ftp://x/",
          ];
          const place = one(places, random);
          await begin(id, one([{ root: place }, { results: place }, { store: place }], random));
          await addJob(client, `${id}-1`, JSON.stringify({ batch: id, inputs: [input] }));
        }),
    },
    {
      name: "stores",
      async send(random) {
        const id = `store-${next++}`;
        const model = sha256(id).toString("hex");
        const task = { model, options: {} };
        await begin(id, { task, store: `${store}/${one(["endless", "silent"], random)}` });
        await addJob(client, `${id}-1`, JSON.stringify({ batch: id, inputs: [input] }));
        await waitUntilEmpty(client);
      },
    },
  ];
}
