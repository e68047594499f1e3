/**
 * What the server costs, and what more instances bring: a network through REST, with bytes, beside the same engine in this process.
 *
 *     npx tsx -C @nnhal/source apps/server/bench/server.ts MODEL.tflite [DEVICE] [SECONDS]
 *
 * Latency: one connection against a worker thread of this process, and against this thread, in turns. Throughput: two instances against
 * one, in turns. Times in milliseconds, and in brackets beside those of this thread. The servers are processes of their own on loopback.
 */
import { basename } from "node:path";
import { load, type Model } from "@nnhal/network";
import { endProcesses } from "@nnhal/test-kit/processes";
import { type Connection, connectionTo, type StartedServer, startServer } from "../src/process.test-helper.ts";

const [file = "", device = "ort", seconds = "20"] = process.argv.slice(2);
const rounds = 5;
const limit = (Number(seconds) * 1000) / rounds;

async function main(): Promise<void> {
  const here = await load(file, { devices: device });
  const [input] = here.inputs;
  if (input?.type !== "uint8" && input?.type !== "float32")
    throw new Error("the bench is for one uint8 or float32 input");
  const count = input.shape.reduce((product, extent) => product * extent, 1);
  const elements = input.type === "uint8" ? new Uint8Array(count).fill(100) : new Float32Array(count).fill(0.5);
  const bytes = new Uint8Array(elements.buffer);
  const head = { name: input.name, datatype: input.type === "uint8" ? "UINT8" : "FP32", shape: input.shape };
  const json = JSON.stringify({
    inputs: [{ ...head, parameters: { binary_data_size: bytes.length } }],
    parameters: { binary_data_output: true },
  });
  const body = Buffer.concat([Buffer.from(json), bytes]);
  const headers = { "inference-header-content-length": String(json.length) };
  const path = `/v2/models/${basename(file, ".tflite")}/infer`;
  const send = async (connection: Connection) => {
    const { status, body: text } = await connection.post(path, body, headers);
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const inProcess = async (model: Model) => void (await model.run({ [input.name]: elements }, { raw: true }));

  const worker = await load(file, { devices: device, worker: true });
  const one = await startServer([file, "--instances", "1", "--queue", "64"], {}, device);
  const connection = connectionTo(one.rest);
  const contestants = {
    "in this thread": () => inProcess(here),
    "in a worker": () => inProcess(worker),
    "REST, bytes": () => send(connection),
  };
  const times = new Map<string, number[]>(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      for (let warm = 0; warm < 3; warm++) await run();
      const end = performance.now() + limit / 3;
      while (performance.now() < end) {
        const start = performance.now();
        await run();
        times.get(name)?.push(performance.now() - start);
      }
    }
  }
  // On a machine with other work, the fastest tenth is what is least disturbed.
  const parts = [0.1, 0.5, 0.99] as const;
  const base = parts.map((part) => quantile(times.get("in this thread") ?? [], part));
  for (const [name, list] of times) {
    const values = parts.map((part, index) => {
      const value = quantile(list, part);
      return `p${part * 100} ${value.toFixed(2)} (${(value / (base[index] ?? 1)).toFixed(2)})`;
    });
    console.log(`${name.padEnd(16)} ${values.join("  ")}`);
  }
  connection.close();
  await Promise.all([here.close(), worker.close()]);

  const two = await startServer([file, "--instances", "2", "--queue", "64"], {}, device);
  const rates = { one: [] as number[], two: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    rates.one.push(await rateOf(one, send));
    rates.two.push(await rateOf(two, send));
  }
  const [single, double] = [quantile(rates.one, 0.5), quantile(rates.two, 0.5)];
  console.log(`one instance   ${single.toFixed(1)} requests a second`);
  console.log(`two instances  ${double.toFixed(1)} requests a second  ${(double / single).toFixed(2)} of one`);
  await endProcesses();
}

/** Requests a second over four connections. */
async function rateOf({ rest }: StartedServer, send: (connection: Connection) => Promise<void>): Promise<number> {
  const connections = Array.from({ length: 4 }, () => connectionTo(rest));
  await Promise.all(connections.map(send));
  const start = performance.now();
  let count = 0;
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - start < limit / 2) {
        await send(connection);
        count++;
      }
    }),
  );
  const rate = (count * 1000) / (performance.now() - start);
  for (const connection of connections) connection.close();
  return rate;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

await main();
process.exit();
