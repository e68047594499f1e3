/**
 * What a queue costs and where it ends: batches of inputs whose computing takes no time, with many workers in one process, on a Redis of its
 * own. Prints, for each number of workers and inputs in a chunk: Redis commands, bytes over its connections, its processor time and its memory, for
 * each input. Run: npx tsx --conditions=@nnhal/source packages/batch-queue/bench/scale.ts [INPUTS] [WORKERS...]
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestOf, type Pool } from "@nnhal/batch";
import { startRedis } from "@nnhal/test-kit/redis";
import { Redis } from "ioredis";
import { openQueue } from "../src/index.ts";

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
  /** Times that Redis has read from a connection. */
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

for (const chunk of [64, 16, 256]) {
  for (const workerCount of chunk === 64 ? workerCounts : workerCounts.slice(0, 1)) {
    const name = `scale-${workerCount}-${chunk}`;
    const queue = await openQueue({ url: redis.url, name });
    await queue.store.put(digestOf(model), model);
    const start = await usage();
    const began = performance.now();
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
    const submitted = await usage();
    line(`submitted in chunks of ${chunk}`, start, submitted, (performance.now() - began) / 1000);
    const queues = await Promise.all(Array.from({ length: workerCount }, () => openQueue({ url: redis.url, name })));
    const opened = await usage();
    const workBegan = performance.now();
    const workers = queues.map((each) => each.work({ pool, lock: 30_000 }));
    while ((await queue.status("b")).done < inputs) await new Promise((resolve) => setTimeout(resolve, 50));
    line(`computed by ${workerCount} workers`, opened, await usage(), (performance.now() - workBegan) / 1000);
    // What workers that have nothing to do cost.
    const idle = await usage();
    const idleSeconds = 10;
    await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
    const after = await usage();
    const clients = /connected_clients:(\d+)/.exec(await client.info("clients"))?.[1];
    console.log(
      `${`idle, ${clients} connections`.padEnd(34)}  ${((after.commands - idle.commands) / idleSeconds / workerCount).toFixed(2)} commands/s a worker, ` +
        `${(((after.seconds - idle.seconds) / idleSeconds) * 100).toFixed(1)} % of a processor in Redis`,
    );
    await Promise.all(workers.map((worker) => worker.close(0)));
    await Promise.all(queues.map((each) => each.close()));
    await queue.remove("b");
    await queue.close();
  }
}
client.disconnect();
await redis.stop();
rmSync(folder, { recursive: true });
process.exit();
