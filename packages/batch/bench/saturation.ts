/**
 * Measures the saturation of a queue: Redis runs only a small part of the time, so that it saturates before the workers on a
 * machine of any size, and 10, 100 and 1000 workers that compute nothing take a batch. Prints the inputs per second of Redis's
 * time, and the part of that time in which it computed (near 100 % Redis is saturated); and the processor time of both sides,
 * whose ratio is the number of workers' processors that one Redis serves.
 *
 *     node --import ./tools/launcher/src/sources.mjs packages/batch/bench/saturation.ts [INPUTS] [SHARE] [CHUNK] [WORKERS...]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { startRedis } from "@nnhal/test-kit/redis";
import { Redis } from "ioredis";
import type { Pool } from "../src/pool.ts";
import { openQueue } from "../src/queue/index.ts";
import { digestOf } from "../src/task.ts";

const [inputs = 4000, share = 0.02, chunk = 64, ...counts] = process.argv.slice(2).map(Number);
const result = { found: "tabby  0.77", top: Array.from({ length: 5 }, (_, index) => ({ index, score: 0.123456 })) };
const pool: Pool = { threads: 1, compute: async () => ({ result, files: [] }), close: async () => {} };
const model = new TextEncoder().encode("no model");
const folder = mkdtempSync(join(tmpdir(), "nnhal-saturation-"));
const nameOf = (index: number) => `picture-${index}.jpg`;
for (let index = 0; index < inputs; index++) writeFileSync(join(folder, nameOf(index)), String(index));
const redis = await startRedis();
const client = new Redis(redis.url);
const info = async (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(await client.info("all"))?.[1]);
const pid = await info("process_id");

/** Lets Redis run for its share of the time until the signal aborts. Resolves with the seconds for which it could run. */
async function holdBack(signal: AbortSignal): Promise<number> {
  let free = 0;
  while (!signal.aborted) {
    if (share >= 1) {
      const began = performance.now();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return (performance.now() - began) / 1000;
    }
    process.kill(pid, "SIGSTOP");
    await after(100 * (1 - share));
    const began = performance.now();
    process.kill(pid, "SIGCONT");
    await after(100 * share);
    free += performance.now() - began;
  }
  return free / 1000;
}

async function measure(workerCount: number): Promise<void> {
  const name = `saturation-${workerCount}`;
  const queue = await openQueue({ url: redis.url, name });
  await queue.store.put(digestOf(model), model);
  const record = { id: "b", task: { model: digestOf(model), options: {} }, model: "m", root: folder, inputs: folder };
  await queue.submit({
    record: { ...record, inline: false, created: 1 },
    async *names() {
      for (let index = 0; index < inputs; index++) yield nameOf(index);
    },
    chunk,
  });
  const queues = await Promise.all(Array.from({ length: workerCount }, () => openQueue({ url: redis.url, name })));
  const ending = new AbortController();
  const before = (await info("used_cpu_user")) + (await info("used_cpu_sys"));
  const own = process.cpuUsage();
  const free = holdBack(ending.signal);
  const began = performance.now();
  const workers = queues.map((each) => each.work({ pool, lock: 60_000 }));
  while ((await queue.status("b")).done < inputs) await after(500);
  const wall = (performance.now() - began) / 1000;
  ending.abort();
  const seconds = await free;
  const { user, system } = process.cpuUsage(own);
  const computed = (await info("used_cpu_user")) + (await info("used_cpu_sys")) - before;
  console.log(
    [
      `${workerCount} workers`.padEnd(13),
      `${(inputs / wall).toFixed(0)} inputs a second of the clock`,
      `${(inputs / seconds).toFixed(0)} of the time of Redis`,
      `which computed in ${((100 * computed) / seconds).toFixed(0)} % of it`,
      `${((1e6 * computed) / inputs).toFixed(0)} us an input, the workers ${((user + system) / inputs).toFixed(0)}`,
    ].join("  "),
  );
  await Promise.all(workers.map((worker) => worker.close(0)));
  await Promise.all(queues.map((each) => each.close()));
  await queue.remove("b");
  await queue.close();
}

for (const count of counts.length > 0 ? counts : [10, 100, 1000]) await measure(count);
client.disconnect();
await redis.stop();
rmSync(folder, { recursive: true });
process.exit();
