/**
 * Measures the cost and limit of a queue: batches of inputs whose computing takes no time, with many workers in one process, on
 * a separate Redis. Prints, for each number of workers and inputs in a chunk: Redis commands, bytes over its connections, its
 * processor time and its memory, for each input. Run: npx tsx --conditions=@nnhal/source packages/batch/bench/scale.ts
 * [INPUTS] [WORKERS...]
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { startRedis } from "@nnhal/test-kit/redis";
import { Redis } from "ioredis";
import type { Pool } from "../src/pool.ts";
import { openQueue } from "../src/queue/index.ts";
import { openResults } from "../src/results.ts";
import { digestOf } from "../src/task.ts";

const [inputs = 10_000, ...counts] = process.argv.slice(2).map(Number);
const workerCounts = counts.length > 0 ? counts : [10, 100, 1000];

/** Computes nothing. The result is as large as five classes. */
const result = {
  found: "Egyptian cat  0.7734",
  top: Array.from({ length: 5 }, (_, index) => ({ index, label: "tabby, tabby cat", score: 0.123456 })),
};
const pool: Pool = { threads: 1, compute: async () => ({ result, files: [] }), close: async () => {} };

const model = new TextEncoder().encode("no model");
const folder = mkdtempSync(join(tmpdir(), "nnhal-scale-"));
for (let index = 0; index < inputs; index++)
  writeFileSync(join(folder, `picture-${String(index).padStart(8, "0")}.jpg`), String(index));
const redis = await startRedis();
const client = new Redis(redis.url);

interface Usage {
  readonly commands: number;
  /** Number of times that Redis has read from a connection. */
  readonly reads: number;
  readonly calls: ReadonlyMap<string, number>;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly seconds: number;
  readonly memory: number;
}

async function usage(): Promise<Usage> {
  const text = `${await client.info("all")}${await client.info("commandstats")}`;
  const value = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  const calls = new Map(
    [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = "", count]) => [name, Number(count)]),
  );
  return {
    commands: value("total_commands_processed"),
    reads: value("total_reads_processed"),
    calls,
    bytesIn: value("total_net_input_bytes"),
    bytesOut: value("total_net_output_bytes"),
    seconds: value("used_cpu_sys") + value("used_cpu_user"),
    memory: value("used_memory"),
  };
}

function line(what: string, before: Usage, after: Usage, wall: number): void {
  const each = (from: number, to: number) => (to - from) / inputs;
  const processor = each(before.seconds, after.seconds) * 1e6;
  console.log(
    [
      what.padEnd(34),
      `${each(before.commands, after.commands).toFixed(2)} commands in ${each(before.reads, after.reads).toFixed(3)} reads`,
      `${each(before.bytesIn, after.bytesIn).toFixed(0)} B in`,
      `${each(before.bytesOut, after.bytesOut).toFixed(0)} B out`,
      `${processor.toFixed(1)} us of Redis (${(1e6 / processor).toFixed(0)}/s)`,
      `${each(before.memory, after.memory).toFixed(0)} B kept`,
      `${(inputs / wall).toFixed(0)}/s here`,
    ].join("  "),
  );
  if (process.env.CALLS) {
    const changes = [...after.calls].map(([name, count]) => [name, count - (before.calls.get(name) ?? 0)] as const);
    console.log(
      changes
        .filter(([, count]) => count > inputs / 1000)
        .sort((a, b) => b[1] - a[1])
        .map(([name, count]) => `${name} ${count}`)
        .join(", "),
    );
  }
}

/** Measures idle workers, then a batch that they compute while it is submitted. */
async function measure(workerCount: number, chunk: number): Promise<void> {
  const name = `scale-${workerCount}-${chunk}`;
  const queue = await openQueue({ url: redis.url, name });
  await queue.store.put(digestOf(model), model);
  const start = await usage();
  const queues = await Promise.all(Array.from({ length: workerCount }, () => openQueue({ url: redis.url, name })));
  const workers = queues.map((each) => each.work({ pool, lock: 30_000 }));
  while ((await queue.queueStatus()).workers < workerCount) await after(100);
  const opened = await usage();
  // Measures the cost of idle workers.
  const idleSeconds = 10;
  await after(idleSeconds * 1000);
  const idle = await usage();
  const clients = /connected_clients:(\d+)/.exec(await client.info("clients"))?.[1];
  const idleCommands = (idle.commands - opened.commands) / idleSeconds / workerCount;
  console.log(
    `${workerCount} workers, ${clients} connections: ${((opened.bytesIn - start.bytesIn) / workerCount / 1000).toFixed(0)} kB to begin one; ` +
      `idle ${idleCommands.toFixed(2)} commands/s each, ${(((idle.seconds - opened.seconds) / idleSeconds) * 100).toFixed(1)} % of a processor in Redis`,
  );
  const began = performance.now();
  const before = await usage();
  await queue.submit({
    record: {
      ...{
        id: "b",
        task: { model: digestOf(model), options: {} },
        model: "m",
        root: folder,
        inputs: folder,
        inline: false,
      },
      created: 1,
    },
    async *names() {
      for (let index = 0; index < inputs; index++) yield `picture-${String(index).padStart(8, "0")}.jpg`;
    },
    chunk,
  });
  while ((await queue.status("b")).done < inputs) await after(250);
  line(`  a batch in chunks of ${chunk}`, before, await usage(), (performance.now() - began) / 1000);
  await Promise.all(workers.map((worker) => worker.close(0)));
  await Promise.all(queues.map((each) => each.close()));
  await queue.remove("b");
  await queue.close();
}

for (const workerCount of workerCounts) await measure(workerCount, 64);
for (const chunk of [1, 16, 256]) await measure(Math.min(...workerCounts), chunk);

/** Files of results on this disk. */
const results = await openResults(join(folder, "results"), digestOf("task"));
const filesBegan = performance.now();
for (let index = 0; index < 2000; index++) {
  const input = digestOf(String(index));
  if (!(await results.has(input))) await results.put(input, { result, files: [] });
}
console.log(
  `results in a folder: ${(2000 / ((performance.now() - filesBegan) / 1000)).toFixed(0)}/s, one after the other`,
);
client.disconnect();
await redis.stop();
rmSync(folder, { recursive: true });
process.exit();
