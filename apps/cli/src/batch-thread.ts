/**
 * Entry of a worker thread of a batch: a model on one input after the other, as `nnhal run` does.
 */
import { parentPort, workerData } from "node:worker_threads";
import { serveBatch } from "@nnhal/batch";
import { defaultStateDirectory } from "@nnhal/driver-core/outcomes";
import { openComputer } from "./batch/computer.ts";
import type { ThreadSettings } from "./context.ts";
import { knownEngines } from "./engines.ts";

if (parentPort !== null) {
  // `startThread` gives it.
  const settings = workerData as ThreadSettings;
  const state = defaultStateDirectory();
  serveBatch(parentPort, (opening, note) => openComputer(opening, note, { ...settings, state }, knownEngines));
}
