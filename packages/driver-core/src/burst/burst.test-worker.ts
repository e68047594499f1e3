/**
 * Serves a burst of an adder over the port that it is given. `signal`: how it sleeps. `stall`: it never ends an execution.
 */
import { workerData } from "node:worker_threads";
import { blockingSignal, sharedSignal } from "../memory/signal.ts";
import { adder } from "./raw-burst.test-helper.ts";
import { serveBurst } from "./threads.ts";

const { port, signal, pollingWindow, stall } = workerData;
const { model } = adder();
const stalling = { execute: () => new Promise<never>(() => {}) };
serveBurst(port, stall === true ? stalling : model, {
  pollingWindow,
  signal: signal === "block" ? blockingSignal() : sharedSignal(),
});
