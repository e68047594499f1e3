/**
 * What the server costs, and what more instances bring: a network through REST, with bytes, beside the same engine in one process.
 *
 *     node --import ../../tools/launcher/src/sources.mjs ../server/bench/server.ts MODEL.tflite [DEVICE] [SECONDS] [THREADS]
 *
 * Latency: one connection, a worker thread, and the thread that calls, in turns. Each contestant is a process of its own, the client of the
 * server too, with as many threads of the engine. Throughput: two instances against one, in turns, each with one thread of the engine.
 * Times in milliseconds, and in brackets beside those of the thread that calls.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { endProcesses } from "@nnhal/test-kit/processes";
import { startServer } from "../src/process.test-helper.ts";
import type { Entrant, Turn } from "./contestant.ts";

const [file = "", device = "ort", seconds = "20", threads = "0"] = process.argv.slice(2);
const rounds = 8;
const limit = (Number(seconds) * 1000) / rounds / 3;
const environment = threads === "0" ? {} : { NNHAL_ORT_THREADS: threads };

interface Contestant {
  run(): Promise<Turn>;
  end(): void;
}

async function start(entrant: Omit<Entrant, "file" | "device">): Promise<Contestant> {
  const path = fileURLToPath(new URL("contestant.ts", import.meta.url));
  const argument = JSON.stringify({ file, device, ...entrant });
  const child = fork(path, [argument], { env: { ...process.env, ...environment } });
  await once(child, "message");
  return {
    async run() {
      child.send(limit);
      // The contestant answers so.
      const [turn] = (await once(child, "message")) as [Turn];
      return turn;
    },
    end: () => child.kill(),
  };
}

async function latency(): Promise<void> {
  const server = await startServer([file, "--instances", "1"], environment, device);
  const contestants = {
    "in this thread": await start({ kind: "thread" }),
    "in a worker": await start({ kind: "worker" }),
    "REST, bytes": await start({ kind: "rest", address: server.rest }),
  };
  const turns = new Map<string, Turn[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, contestant] of Object.entries(contestants)) {
      turns.set(name, [...(turns.get(name) ?? []), await contestant.run()]);
    }
  }
  // On a machine with other work, the fastest are what is least disturbed.
  const parts = [0, 0.1, 0.5, 0.99] as const;
  const timesOf = (name: string) => (turns.get(name) ?? []).flatMap(({ times }) => times);
  const base = parts.map((part) => quantile(timesOf("in this thread"), part));
  for (const name of Object.keys(contestants)) {
    const values = parts.map((part, index) => {
      const value = quantile(timesOf(name), part);
      return `p${part * 100} ${value.toFixed(2)} (${(value / (base[index] ?? 1)).toFixed(2)})`;
    });
    console.log(`${name.padEnd(16)} ${values.join("  ")}`);
  }
  for (const contestant of Object.values(contestants)) contestant.end();
  await endProcesses();
}

async function throughput(): Promise<void> {
  const client = async (instances: number) => {
    const args = [file, "--instances", String(instances), "--threads", "1"];
    const { rest: address } = await startServer(args, {}, device);
    return start({ kind: "rest", address, connections: 2 * instances });
  };
  const [one, two] = [await client(1), await client(2)];
  const rates = { one: [] as number[], two: [] as number[] };
  let cost = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [name, contestant] of [["one", one], ["two", two]] as const) {
      const { times, processor } = await contestant.run();
      rates[name].push((times.length * 1000) / limit);
      cost = processor;
    }
  }
  const [single, double] = [quantile(rates.one, 0.5), quantile(rates.two, 0.5)];
  console.log(`one instance   ${single.toFixed(1)} requests a second`);
  console.log(`two instances  ${double.toFixed(1)} requests a second  ${(double / single).toFixed(2)} of one`);
  console.log(`the client took ${cost.toFixed(2)} ms of a processor for each request`);
  one.end();
  two.end();
  await endProcesses();
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

await latency();
if (process.env.T) await throughput();
process.exit();
