/**
 * Measures the time of a request: one ADD of one element on the reference backend, by the ordinary call and through bursts,
 * compared with the bare channels between two threads. Round trips in microseconds.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/driver-core/bench/burst.ts [COUNT]`. Two
 * threads that poll need two idle processors; where others are at work, those rows say more about them.
 */
import { availableParallelism, loadavg } from "node:os";
import { MessageChannel } from "node:worker_threads";
import { elementAt } from "@nnhal/operations";
import { prepareAdd } from "../src/burst/add-model.test-helper.ts";
import { type BurstOptions, blockingSignal, connectBurst, createLocalBurst } from "../src/burst/index.ts";
import { adder } from "../src/burst/raw-burst.test-helper.ts";
import { startWorker } from "../src/burst/start-worker.test-helper.ts";

const count = Number(process.argv[2] ?? 20_000);
const peer = new URL("./burst-peer.ts", import.meta.url);
const { request, values } = adder();

/** Times a round trip over and over; the first quarter warms up. */
async function measure(name: string, roundTrip: () => Promise<unknown> | unknown): Promise<void> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    // Awaiting a value that is not a promise would cost an extra turn.
    const pending = roundTrip();
    if (pending instanceof Promise) await pending;
    times.push((performance.now() - start) * 1000);
  }
  const sorted = times.slice(count / 4).sort((a, b) => a - b);
  const at = (share: number) =>
    elementAt(sorted, Math.floor(share * sorted.length))
      .toFixed(1)
      .padStart(9);
  console.log(`| ${name.padEnd(48)} |${at(0.5)} |${at(0.9)} |${at(0.99)} |`);
}

function check(answer: { status: number; message?: string }): void {
  if (answer.status !== 0 || values[2] !== 3) throw new Error(`status ${answer.status}: ${answer.message}`);
}

async function betweenThreads(name: string, service: object, options: BurstOptions): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const { ended } = startWorker(peer, { kind: "burst", port: port2, ...service }, [port2]);
  const { burst, message } = await connectBurst(port1, options);
  if (burst === null) throw new Error(message);
  check(await burst.compute(request));
  await measure(name, () => burst.compute(request));
  await burst.close();
  await ended;
}

/** The bare ways: a word that is counted up by turns, and messages. */
async function withPeer(kind: string, prepare: (words: Int32Array) => () => void): Promise<void> {
  const words = new Int32Array(new SharedArrayBuffer(256));
  const { worker, ended } = startWorker(peer, { kind, words });
  await new Promise((resolve) => worker.once("message", resolve));
  await measure(kind, prepare(words));
  Atomics.store(words, 32, 1);
  Atomics.add(words, 0, 1);
  Atomics.notify(words, 0);
  await ended;
}

console.log(
  `${availableParallelism()} processors, load ${elementAt(loadavg(), 0).toFixed(1)}, Node.js ${process.version}\n`,
);
console.log(`| ${"round trip, microseconds".padEnd(48)} |   median |       p90 |       p99 |`);
console.log(`|${"-".repeat(50)}|---------:|----------:|----------:|`);
values.set([1, 2, 0]);

const preparedModel = await prepareAdd();
check(await preparedModel.execute(request));
await measure("execute, same thread", () => preparedModel.execute(request));

for (const direct of [true, false]) {
  const { burst: local } = await createLocalBurst(preparedModel, { direct });
  if (local === null) throw new Error("no burst");
  await measure(`burst, same thread${direct ? "" : ", through queues"}`, () => local.compute(request));
  await local.close();
}

await betweenThreads("burst, two threads, polling 50 us", { pollingWindow: 50 }, { pollingWindow: 50 });
await betweenThreads(
  "burst, two threads, blocking",
  { pollingWindow: 0, signal: "block" },
  { pollingWindow: 0, signal: blockingSignal() },
);
await betweenThreads("burst, two threads, sleeping", { pollingWindow: 0 }, { pollingWindow: 0 });

await withPeer("two threads, spin", (words) => () => {
  const turn = Atomics.add(words, 0, 1) + 1;
  while (Atomics.load(words, 16) !== turn);
});
await withPeer("two threads, Atomics.wait and notify", (words) => () => {
  const turn = Atomics.add(words, 0, 1) + 1;
  Atomics.notify(words, 0);
  while (Atomics.load(words, 16) !== turn) Atomics.wait(words, 16, turn - 1);
});

const { port1, port2 } = new MessageChannel();
const { ended } = startWorker(peer, { kind: "postMessage", port: port2 }, [port2]);
let answered = (_value: unknown) => {};
port1.on("message", (value) => answered(value));
const ask = () =>
  new Promise((resolve) => {
    answered = resolve;
    port1.postMessage(request);
  });
await ask();
await measure("two threads, postMessage of the request", ask);
port1.close();
await ended;
