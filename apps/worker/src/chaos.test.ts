/**
 * Workers that are killed at random, and a Redis that is killed and restarted from its files: in the end each input has exactly
 * one result, and all are right. NNHAL_BATCH=10000 sets the number of inputs, and uses real workers with threads that run a
 * network.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { digestOf } from "@nnhal/batch";
import { openQueue } from "@nnhal/batch/queue";
import { fromSource } from "@nnhal/test-kit/from-source";
import { hasRedis, redisRemedy, startRedis } from "@nnhal/test-kit/redis";
import { writeTflite } from "@nnhal/tflite";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";

const wanted = process.env.NNHAL_BATCH;
const isReal = wanted !== undefined;
const count = Number(wanted ?? 200);
const workerCount = isReal ? 4 : 2;
const kills = isReal ? 12 : 1;
const restarts = isReal ? 3 : 1;

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** A network whose output is its input. */
function passingModel(): Uint8Array {
  const tensor = (name: string) => ({ name, type: "FLOAT32", shape: [1, 2], isVariable: false }) as const;
  const options = { newShape: [1, 2] };
  const subgraph = {
    name: "main",
    tensors: [tensor("given"), tensor("passed")],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "RESHAPE", version: 1, inputs: [0], outputs: [1], options }],
  };
  return writeTflite({ version: 3, description: "test", subgraphs: [subgraph], metadata: [], signatures: [] });
}

function startWorker(url: string): { readonly child: ChildProcess; readonly ready: Promise<unknown> } {
  const [file, args] = isReal
    ? ["main.ts", ["--queue", url, "--threads", "1", "--lock", "2", "--quiet"]]
    : ["light-worker.test-process.ts", [url]];
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...fromSource, path, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return { child, ready: once(child.stdout, "data") };
}

it.skipIf(!hasRedis)(
  `gives each input exactly one result, whatever is killed${redisRemedy}`,
  { timeout: 900_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "nnhal-chaos-"));
    const redis = await startRedis();
    const queue = await openQueue({ url: redis.url, name: "nnhal" });
    const client = new Redis(redis.url, { maxRetriesPerRequest: null });
    client.on("error", () => {});
    try {
      const model = passingModel();
      const names = Array.from({ length: count }, (_, index) => `${index}.bin`);
      for (const [index, name] of names.entries())
        await writeFile(join(folder, name), new Uint8Array(Float32Array.of(index, -index).buffer));
      await queue.store.put(digestOf(model), model);
      const workers = Array.from({ length: workerCount }, () => startWorker(redis.url));
      const task = { model: digestOf(model), options: { device: "reference", hybrid: "quantised", top: 1 } };
      const submitted = queue.submit({
        record: { id: "chaos", task, model: "m", root: folder, inputs: folder, inline: false, created: 1 },
        async *names() {
          yield* names;
        },
        chunk: 16,
      });
      const settle = async () => {
        const { done, failed } = await queue.status("chaos");
        return done + failed;
      };
      // Victims and times of the kills: spread over the work, chosen by a seed.
      let seed = 7;
      const random = () => {
        seed = (seed * 48271) % 2147483647;
        return seed / 2147483647;
      };
      const events = [
        ...Array.from({ length: kills }, () => ({ at: Math.floor(random() * count * 0.8) + 1, isWorker: true })),
        ...Array.from({ length: restarts }, () => ({ at: Math.floor(random() * count * 0.6) + 1, isWorker: false })),
      ].sort((a, b) => a.at - b.at);
      for (const { at, isWorker } of events) {
        while ((await settle()) < at) await after(5);
        if (isWorker) {
          const place = Math.floor(random() * workers.length);
          const victim = workers[place]?.child;
          const ended = victim && once(victim, "exit");
          victim?.kill("SIGKILL");
          await ended;
          workers[place] = startWorker(redis.url);
        } else await redis.restart("SIGKILL");
      }
      expect(await submitted).toEqual({ queued: count, known: 0, unreadable: 0 });
      while ((await settle()) < count) await after(20);
      // A process that is still starting does not handle the signal.
      await Promise.all(workers.map(({ ready }) => ready));
      const ends = workers.map(({ child }) => once(child, "exit"));
      for (const { child } of workers) child.kill("SIGTERM");
      expect((await Promise.all(ends)).map(([code]) => code)).toEqual(workers.map(() => 0));

      expect(await queue.status("chaos")).toMatchObject({
        inputs: count,
        names: count,
        done: count,
        failed: 0,
        unreadable: 0,
      });
      const wrong: unknown[] = [];
      for await (const { name, result } of queue.inputs("chaos")) {
        const index = Number.parseInt(name, 10);
        const [values] = readOutputs(result);
        if (values?.[0] !== index || values[1] !== -index) wrong.push([name, result]);
      }
      expect(wrong).toEqual([]);
      const stream = await client.xrange("nnhal:nnhal:batch:chaos:results", "-", "+");
      expect(new Set(stream.map(([, [, input]]) => input)).size).toBe(count);
      expect(stream).toHaveLength(count);
    } finally {
      for (const child of running) child.kill("SIGKILL");
      client.disconnect();
      await queue.close();
      await redis.stop();
      await rm(folder, { recursive: true });
    }
  },
);

/** Reads the values of each output in a result. */
function readOutputs(result: unknown): readonly (readonly number[])[] {
  const outputs: unknown = result instanceof Object && "outputs" in result ? result.outputs : [];
  // An invalid form has no values, which the test finds.
  return (Array.isArray(outputs) ? outputs : []).map(({ values }: { values: readonly number[] }) => values);
}
