/**
 * Measures the cost of the server and the gain of more instances: a network through REST, with bytes, compared with the same
 * engine in one process.
 *
 *     node --import ../../tools/launcher/src/sources.mjs ../server/bench/server.ts MODEL.tflite [DEVICE] [SECONDS] [THREADS]
 *
 * Latency: one connection to the server, one to a bare server (bare-server.ts), a worker thread, and the thread that calls, in
 * turns. Each contestant is a separate process, the clients of servers too, with as many threads of the engine. Throughput: two
 * instances against one, in turns, each with one thread of the engine. Before times count, all run until their code is
 * compiled. Times in milliseconds, and in brackets the ratio to the thread that calls, the difference from it, and the ratio to
 * the bare server.
 */
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { endProcesses } from "@nnhal/test-kit/processes";
import { startServer } from "../src/process.test-helper.ts";
import type { Entrant, Limits, Turn } from "./contestant.ts";

const [file = "", device = "ort", seconds = "20", threads = "0"] = process.argv.slice(2);
const rounds = 8;
const limits: Limits = { milliseconds: (Number(seconds) * 1000) / rounds / 4 };
/** Runs before times count: a server still compiles code in its first 500 requests. */
const warmUp: Limits = { milliseconds: 60_000, runs: 1000 };
const environment = threads === "0" ? {} : { NNHAL_ORT_THREADS: threads };

interface Contestant {
  run(limits: Limits): Promise<Turn>;
  end(): void;
}

/** Starts a file of this folder as a process, and returns the first message that it sends. */
async function startFile(name: string, entrant: object): Promise<{ child: ChildProcess; message: string }> {
  const argument = JSON.stringify({ file, device, ...entrant });
  const path = fileURLToPath(new URL(name, import.meta.url));
  const child = fork(path, [argument], { env: { ...process.env, ...environment } });
  return { child, message: String(await answerOf(child)) };
}

/** Returns the next message of a process. Rejects if the process ends before. */
function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const waitForEnd = () => reject(new Error("a contestant has ended"));
    child.once("exit", waitForEnd).once("message", (message) => {
      child.off("exit", waitForEnd);
      resolve(message);
    });
  });
}

/** Starts a contestant and warms it up. */
async function start(entrant: Omit<Entrant, "file" | "device">): Promise<Contestant> {
  const { child } = await startFile("contestant.ts", entrant);
  const run = async (limits: Limits) => {
    child.send(limits);
    // The contestant answers with a turn.
    return (await answerOf(child)) as Turn;
  };
  await run(warmUp);
  return { run, end: () => child.kill() };
}

async function latency(): Promise<void> {
  const server = await startServer([file, "--instances", "1"], environment, device);
  const bare = await startFile("bare-server.ts", {});
  const contestants = {
    "in this thread": await start({ kind: "thread" }),
    "in a worker": await start({ kind: "worker" }),
    "bare server": await start({ kind: "rest", address: bare.message, describedBy: server.rest }),
    "REST, bytes": await start({ kind: "rest", address: server.rest }),
  };
  const turns = new Map<string, Turn[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, contestant] of Object.entries(contestants)) {
      turns.set(name, [...(turns.get(name) ?? []), await contestant.run(limits)]);
    }
  }
  // On a machine with other work, the fastest runs are the least disturbed ones.
  const parts = [0, 0.1, 0.5, 0.99] as const;
  const timesOf = (name: string) => (turns.get(name) ?? []).flatMap(({ times }) => times);
  const [base = [], ofBare = []] = ["in this thread", "bare server"].map((name) =>
    parts.map((part) => quantile(timesOf(name), part)),
  );
  for (const name of Object.keys(contestants)) {
    const values = parts.map((part, index) => {
      const value = quantile(timesOf(name), part);
      const [thread = 1, server = 1] = [base[index], ofBare[index]];
      const ratios = [(value / thread).toFixed(2), formatSigned(value - thread), (value / server).toFixed(2)];
      return `p${part * 100} ${value.toFixed(2)} (${ratios.join(", ")})`;
    });
    console.log(`${name.padEnd(16)} ${values.join("  ")}`);
  }
  for (const contestant of Object.values(contestants)) contestant.end();
  bare.child.kill();
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
      const { times, processor } = await client.run(limits);
      rates.push((times.length * 1000) / limits.milliseconds);
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

/** Returns the processor time of a process in milliseconds, on Linux; else NaN. */
function processorTime(pid: number | undefined): number {
  if (process.platform !== "linux") return Number.NaN;
  // After the name in brackets: the state is the first, and times are in hundredths of a second.
  const values = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return 10 * (Number(values[11]) + Number(values[12]));
}

function formatSigned(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(2)}`;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

await latency();
await throughput();
process.exit();
