/**
 * What the server costs, and what more instances bring: a network through REST, with bytes, beside the same engine in one process.
 *
 *     node --import ../../tools/launcher/src/sources.mjs ../server/bench/server.ts MODEL.tflite [DEVICE] [SECONDS] [THREADS]
 *
 * Latency: one connection, a worker thread, and the thread that calls, in turns. Each contestant is a process of its own, the client of the
 * server too, with as many threads of the engine. Throughput: two instances against one, in turns, each with one thread of the engine.
 * Times in milliseconds, and in brackets beside those of the thread that calls: the ratio, and what is added.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
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
      const turn = await contestant.run();
      // In the first turn what is often called is compiled.
      if (round > 0) turns.set(name, [...(turns.get(name) ?? []), turn]);
    }
  }
  // On a machine with other work, the fastest are what is least disturbed.
  const parts = [0, 0.1, 0.5, 0.99] as const;
  const timesOf = (name: string) => (turns.get(name) ?? []).flatMap(({ times }) => times);
  const base = parts.map((part) => quantile(timesOf("in this thread"), part));
  for (const name of Object.keys(contestants)) {
    const values = parts.map((part, index) => {
      const value = quantile(timesOf(name), part);
      const [ratio, more] = [value / (base[index] ?? 1), value - (base[index] ?? 0)];
      return `p${part * 100} ${value.toFixed(2)} (${ratio.toFixed(2)}, +${more.toFixed(2)} ms)`;
    });
    console.log(`${name.padEnd(16)} ${values.join("  ")}`);
  }
  for (const contestant of Object.values(contestants)) contestant.end();
  await endProcesses();
}

async function throughput(): Promise<void> {
  const open = async (instances: number) => {
    const args = [file, "--instances", String(instances), "--threads", "1"];
    const server = await startServer(args, {}, device);
    const client = await start({ kind: "rest", address: server.rest, connections: 2 * instances });
    return { server, client, rates: [] as number[], ofServer: [] as number[], ofClient: [] as number[] };
  };
  const sides = { "one instance": await open(1), "two instances": await open(2) };
  for (let round = 0; round < rounds; round++) {
    for (const { server, client, rates, ofServer, ofClient } of Object.values(sides)) {
      const before = processorTime(server.child.pid);
      const { times, processor } = await client.run();
      rates.push((times.length * 1000) / limit);
      ofServer.push((processorTime(server.child.pid) - before) / times.length);
      ofClient.push(processor);
    }
  }
  const base = quantile(sides["one instance"].rates, 0.5);
  for (const [name, { client, rates, ofServer, ofClient }] of Object.entries(sides)) {
    const rate = quantile(rates, 0.5);
    const [server, own] = [quantile(ofServer, 0.5), quantile(ofClient, 0.5)];
    console.log(`${name.padEnd(14)} ${rate.toFixed(1)} requests a second (${(rate / base).toFixed(2)})`);
    console.log(`  processor time of a request: server ${server.toFixed(2)} ms, client ${own.toFixed(2)} ms`);
    client.end();
  }
  await endProcesses();
}

/** Milliseconds of processors that a process has taken, on Linux; else NaN. */
function processorTime(pid: number | undefined): number {
  if (process.platform !== "linux") return Number.NaN;
  // After the name in brackets: the state is the first, and times are in hundredths of a second.
  const values = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return 10 * (Number(values[11]) + Number(values[12]));
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

await latency();
await throughput();
process.exit();
