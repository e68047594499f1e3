/**
 * Writes packets of one to five slots into a ring as fast as there is room.
 */
import { workerData } from "node:worker_threads";
import { blockingSignal, sharedSignal } from "../memory/signal.ts";
import { ringWriter, wordsPerSlot } from "./ring.ts";
import { createTurns, sleepUntil } from "./waiting.ts";

const { words, capacity, packets, how } = workerData;
const signal = how === "block" ? blockingSignal() : sharedSignal({ keepAlive: true });
const writer = ringWriter(words, capacity, signal);
const turns = createTurns(1);
for (let index = 0; index < packets; index++) {
  const length = 1 + (index % 5);
  const packet = new Int32Array(length * wordsPerSlot);
  for (let slot = 0; slot < length; slot++) {
    packet.set([index, length, slot, index ^ slot, 0, 0, 0, index], slot * wordsPerSlot);
  }
  await sleepUntil(writer, () => writer.write(packet) || undefined, turns);
}
