/** The other thread of the bench. */
import { workerData } from "node:worker_threads";
import { serveBurst } from "@nnhal/driver-core/burst";
import { prepareAdd } from "./prepare-add.ts";

const { port, kind } = workerData;
const words: Int32Array = workerData.words;
const prepared = await prepareAdd();
switch (kind) {
  case "burst":
    serveBurst(port, prepared);
    break;
  case "call":
    port.on("message", async (request: Parameters<typeof prepared.execute>[0]) => {
      port.postMessage(await prepared.execute(request));
    });
    break;
  default: {
    let turn = 0;
    while (Atomics.load(words, 32) === 0) {
      while (Atomics.load(words, 0) === turn) Atomics.wait(words, 0, turn, 100);
      turn = Atomics.load(words, 0);
      Atomics.store(words, 16, turn);
      Atomics.notify(words, 16);
    }
  }
}
