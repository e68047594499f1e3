/**
 * Measures the time of an ADD of one element, from the same thread to a daemon, compared with the bare ways in which threads
 * and processes wait for each other. Round trips in microseconds, and their ratio to the bare way that limits them.
 *
 * Run from the top of the repository: `node --import ./tools/launcher/src/sources.mjs apps/sample-driver/bench/round-trips.ts
 * [ROUNDS [NAMES [PAUSE]]]`; NAMES is a regular expression, PAUSE the milliseconds between two trips of every contestant
 * (default 0). Each contestant makes some thousand trips before any is counted: until then its code is not compiled, and ADD in
 * the same thread takes five times as long. Then all take turns, so that a busy moment meets each of them. Two sides that poll
 * need two idle processors.
 */

import { connect, type Socket } from "node:net";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel, Worker } from "node:worker_threads";
import {
  type BurstController,
  type BurstOptions,
  connectBurst,
  createBurst,
  createPacketBurst,
  packetEnds,
} from "@nnhal/driver-core/burst";
import { allocateMemory, mapPool } from "@nnhal/driver-core/memory";
import { connectService } from "@nnhal/service";
import { fromSource } from "@nnhal/test-kit/from-source";
import { addModel } from "@nnhal/test-kit/models";
import type { Memory, PreparedModel, Request } from "@nnhal/types";
import {
  adderRequest,
  blockingFutexSignal,
  burstAcrossProcesses,
  type ConfigureMessage,
  clientContext,
  createSharedMemory,
  mappedSignal,
  type Peer,
  passingOver,
  prepareRemotely,
  privateFolder,
  serveDescriptors,
  startPeer,
  unwrap,
} from "../../../packages/service/src/shared-memory/round-trips.test-helper.ts";
import { prepare } from "../src/models.test-helper.ts";
import { cleanUp, startDaemonProcess } from "../src/process.test-helper.ts";
import { readFrames, toWords, writeFrame } from "./frames.ts";
import { prepareAdd } from "./prepare-add.ts";

const rounds = Number(process.argv[2] ?? 40);
/** Which contestants take part. */
const wanted = new RegExp(process.argv[3] ?? "");
/** Milliseconds between two trips, the same for all. */
const pause = Number(process.argv[4] ?? 0);
const tripsOfRound = 50;
/** Trips of each contestant before the rounds: its code is compiled after about 4000. */
const warmingTrips = 8000;

interface Contestant {
  readonly name: string;
  readonly limit?: string;
  readonly roundTrip: () => Promise<unknown> | unknown;
  readonly times: number[];
}
const contestants: Contestant[] = [];
const ends: (() => unknown)[] = [];
function add(name: string, roundTrip: Contestant["roundTrip"], limit?: string): void {
  contestants.push({ name, roundTrip, times: [], ...(limit !== undefined && { limit }) });
}

const folder = privateFolder();
const path = join(folder.path, "bench");
const server = unwrap(await serveDescriptors(path));
const module = new URL("peer.ts", import.meta.url).href;

/** Starts a separate process for each: one that blocks or spins serves nothing else. */
async function startProcess() {
  let client: ReturnType<typeof clientContext> | undefined;
  const peer: Peer = startPeer(
    module,
    [],
    { getMemories: (slots: readonly number[]) => client?.getMemories(slots) },
    process.execArgv,
  );
  const secret = await peer.ask("connect", path);
  if (!(secret instanceof Uint8Array)) throw new Error("no secret");
  const passing = passingOver(unwrap(await server.accept(secret, undefined)).fd);
  ends.push(() => peer.kill());
  return {
    peer,
    passing,
    contextOf(service: Partial<ConfigureMessage>) {
      client = clientContext(() => passing, peer.ask, service, peer.ended);
      return client;
    },
  };
}

function wordsOf(memory: Memory): Int32Array {
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  return new Int32Array(mapping.bytes.buffer, mapping.bytes.byteOffset, mapping.bytes.length / 4);
}

/** The bare ways of processes: a word that is counted up by turns. */
async function addEcho(name: string, how: "spin" | "futex" | "async"): Promise<void> {
  if (!wanted.test(name)) return;
  const { peer, passing } = await startProcess();
  const memory = unwrap(createSharedMemory(4096));
  const words = wordsOf(memory);
  await peer.ask("words", unwrap(passing.pass(memory)).reference);
  await peer.ask("echo", how);
  // The peer that blocks answers no more: it ends by its word, or is killed.
  const signal = blockingFutexSignal({ milliseconds: 100 });
  ends.push(() => Atomics.store(words, 32, 1));
  const next = () => Atomics.add(words, 0, 1) + 1;
  if (how === "spin") {
    let lastTrip = 0;
    add(name, () => {
      const turn = next();
      const now = performance.now();
      // The peer sleeps between rounds.
      if (now - lastTrip > 0.5) signal.wake(words, 0);
      while (Atomics.load(words, 16) !== turn);
      lastTrip = now;
    });
  } else if (how === "futex") {
    add(name, () => {
      const turn = next();
      signal.wake(words, 0);
      while (Atomics.load(words, 16) !== turn) signal.sleep(words, 16, turn - 1);
    });
  } else {
    add(name, async () => {
      const turn = next();
      mappedSignal.wake(words, 0);
      while (Atomics.load(words, 16) !== turn) await mappedSignal.sleep(words, 16, turn - 1);
    });
  }
}

function check({ status, message }: { status: number; message?: string | undefined }, values: Float32Array): void {
  if (status !== 0 || values[2] !== 3) throw new Error(`status ${status}: ${message}`);
}

async function addBurst(
  name: string,
  burst: BurstController | null,
  message: string | undefined,
  adder: ReturnType<typeof adderRequest>,
  limit: string,
) {
  if (burst === null) throw new Error(message);
  adder.values.set([1, 2, 0]);
  check(await burst.compute(adder.request), adder.values);
  add(name, () => burst.compute(adder.request), limit);
  ends.push(() => burst.close());
}

async function addProcessBurst(name: string, service: Partial<ConfigureMessage>, options: BurstOptions): Promise<void> {
  if (!wanted.test(name)) return;
  const { contextOf } = await startProcess();
  const { burst, message } = await createBurst(contextOf(service).configure, { ...burstAcrossProcesses(), ...options });
  await addBurst(name, burst, message, adderRequest(), "processes: futex");
}

function connectTo(socketPath: string): Promise<Socket> {
  const socket = connect(socketPath);
  ends.push(() => socket.destroy());
  return new Promise((resolve, reject) => socket.once("connect", () => resolve(socket)).once("error", reject));
}

/** An adder in memory that threads share. */
function threadAdder(): ReturnType<typeof adderRequest> {
  const memory = allocateMemory(12);
  const { request } = adderRequest();
  const pools: Request["pools"] = [{ kind: "memory", memory }];
  return { memory, request: { ...request, pools }, values: new Float32Array(wordsOf(memory).buffer) };
}

function startWorker(kind: string, words?: Int32Array) {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: { port: port2, kind, words },
    transferList: [port2],
    execArgv: [...fromSource],
  });
  ends.push(() => worker.terminate());
  return port1;
}

await addEcho("processes: spin", "spin");
await addEcho("processes: futex", "futex");
await addEcho("processes: futex, event loops", "async");
if (wanted.test("threads: wait and notify")) {
  const words = new Int32Array(new SharedArrayBuffer(256));
  startWorker("wait", words);
  add("threads: wait and notify", () => {
    const turn = Atomics.add(words, 0, 1) + 1;
    Atomics.notify(words, 0);
    while (Atomics.load(words, 16) !== turn) Atomics.wait(words, 16, turn - 1, 100);
  });
}
const sockets = await startProcess();
await sockets.peer.ask("listen", path);
if (wanted.test("processes: socket")) {
  const socket = await connectTo(`${path}.echo`);
  let answer = () => {};
  socket.on("data", () => answer());
  const bytes = new Uint8Array(64);
  add(
    "processes: socket",
    () =>
      new Promise<void>((resolve) => {
        answer = resolve;
        socket.write(bytes);
      }),
  );
}
if (wanted.test("ADD, same thread")) {
  const { request, values } = threadAdder();
  const prepared = await prepareAdd();
  values.set([1, 2, 0]);
  check(await prepared.execute(request), values);
  add("ADD, same thread", () => prepared.execute(request));
}
if (wanted.test("ADD, worker, message")) {
  const { request, values } = threadAdder();
  const port = startWorker("call");
  values.set([1, 2, 0]);
  let answered = (_value: { status: number; message?: string }) => {};
  port.on("message", (value) => answered(value));
  const call = () =>
    new Promise<{ status: number; message?: string }>((resolve) => {
      answered = resolve;
      port.postMessage(request);
    });
  check(await call(), values);
  ends.push(() => port.close());
  add("ADD, worker, message", call, "threads: wait and notify");
}
if (wanted.test("ADD, worker, burst")) {
  const { burst, message } = await connectBurst(startWorker("burst"));
  await addBurst("ADD, worker, burst", burst, message, threadAdder(), "threads: wait and notify");
}
if (wanted.test("ADD, process, packets over a socket")) {
  const socket = await connectTo(`${path}.packets`);
  const packets = packetEnds((packet) => writeFrame(socket, packet));
  readFrames(socket, (frame) => packets.receive(toWords(frame)));
  const { burst, message } = await createPacketBurst((callback) => {
    // The service was started by the connection; only the question for memories is a call.
    sockets.contextOf({}).adopt(callback);
    return { status: 0, context: { freeMemory() {} } };
  }, packets);
  await addBurst("ADD, process, packets over a socket", burst, message, adderRequest(), "processes: socket");
}
/** A call and a burst of a device of another process. */
async function addDevice(where: string, prepare: () => Promise<PreparedModel>): Promise<void> {
  const [call, ofDevice] = [`ADD, ${where}, call`, `ADD, ${where}, burst of a device`];
  if (!wanted.test(call) && !wanted.test(ofDevice)) return;
  const model = await prepare();
  const { request, values } = adderRequest();
  values.set([1, 2, 0]);
  check(await model.execute(request), values);
  if (wanted.test(call)) add(call, () => model.execute(request), "processes: socket");
  const configure = model.configureExecutionBurst;
  if (configure === undefined) throw new Error("no bursts");
  if (!wanted.test(ofDevice)) return;
  const { burst, message } = await createBurst(configure, burstAcrossProcesses());
  await addBurst(ofDevice, burst, message, adderRequest(), "processes: futex");
}
await addDevice("process", async () => {
  const peer = startPeer("./transport.test-process.ts", [], {}, process.execArgv);
  ends.push(() => peer.kill());
  await peer.ask("listen", `${path}.device`);
  return (await prepareRemotely(`${path}.device`)).model;
});
await addDevice("daemon", async () => {
  const { directory } = await startDaemonProcess(["--devices", "nnhal-reference"]);
  ends.push(cleanUp);
  const device = await connectService("nnhal-reference", { directory, keepAlive: true });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return prepare(device, addModel([1]));
});
await addProcessBurst("ADD, process, burst, polling 50 us", { pollingWindow: 50 }, { pollingWindow: 50 });
await addProcessBurst(
  "ADD, process, burst, blocking",
  { pollingWindow: 0, how: "block" },
  { pollingWindow: 0, signal: blockingFutexSignal() },
);
await addProcessBurst(
  "ADD, process, burst, parked and blocking",
  { pollingWindow: 0, how: "park" },
  { pollingWindow: 0, signal: blockingFutexSignal() },
);
await addProcessBurst(
  "ADD, process, burst, parked and event loop",
  { pollingWindow: 0, how: "park" },
  { pollingWindow: 0 },
);
await addProcessBurst("ADD, process, burst, event loops", { pollingWindow: 0 }, { pollingWindow: 0 });

console.log(
  `${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)}, Node.js ${process.version}, ${rounds} rounds of ${tripsOfRound}, ${pause} ms between trips\n`,
);
async function trip({ roundTrip }: Contestant): Promise<number> {
  const start = performance.now();
  const pending = roundTrip();
  if (pending instanceof Promise) await pending;
  return (performance.now() - start) * 1000;
}

for (const contestant of contestants) {
  for (let count = 0; count < warmingTrips; count++) await trip(contestant);
}
for (let round = 0; round < rounds; round++) {
  for (const contestant of contestants) {
    for (let count = 0; count < tripsOfRound; count++) {
      if (pause > 0) await sleep(pause);
      contestant.times.push(await trip(contestant));
    }
  }
}
function at(times: readonly number[], share: number): number {
  return times[Math.floor(share * times.length)] ?? Number.NaN;
}
for (const { times } of contestants) times.sort((a, b) => a - b);
const medianOf = (name: string) => at(contestants.find((one) => one.name === name)?.times ?? [], 0.5);
console.log(`| ${"round trip, microseconds".padEnd(44)} |      p5 |     p50 |     p99 | ratio of p50 |`);
console.log(`|${"-".repeat(46)}|--------:|--------:|--------:|-------------:|`);
for (const { name, limit, times } of contestants) {
  const ratio = limit === undefined ? "" : `${(at(times, 0.5) / medianOf(limit)).toFixed(1)} x`;
  const columns = [at(times, 0.05), at(times, 0.5), at(times, 0.99)].map((time) => time.toFixed(1).padStart(7));
  console.log(`| ${name.padEnd(44)} | ${columns.join(" | ")} | ${ratio.padStart(12)} |`);
}
for (const end of ends) await Promise.race([end(), new Promise((resolve) => setTimeout(resolve, 500))]);
server.close();
folder.remove();
process.exit();
