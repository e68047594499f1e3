/**
 * The other thread of the burst bench.
 */
import { parentPort, workerData } from "node:worker_threads";
import { prepareAdd } from "../src/burst/add-model.test-helper.ts";
import { blockingSignal, serveBurst, sharedSignal } from "../src/burst/index.ts";

const { kind, port, signal, pollingWindow } = workerData;
const words: Int32Array = workerData.words;
switch (kind) {
  case "burst":
    serveBurst(port, await prepareAdd(), {
      pollingWindow,
      signal: signal === "block" ? blockingSignal() : sharedSignal(),
    });
    break;
  case "postMessage":
    port.on("message", (message: unknown) => port.postMessage(message));
    break;
  default: {
    // Copies word 0, which counts up, to word 16 until word 32 says stop.
    parentPort?.postMessage("ready");
    const spins = kind === "two threads, spin";
    let turn = 0;
    for (;;) {
      while (Atomics.load(words, 0) === turn) if (!spins) Atomics.wait(words, 0, turn);
      if (Atomics.load(words, 32) !== 0) break;
      turn++;
      Atomics.store(words, 16, turn);
      if (!spins) Atomics.notify(words, 16);
    }
  }
}
