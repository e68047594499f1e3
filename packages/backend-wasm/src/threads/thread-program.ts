/**
 * The program of a thread that helps to compute, as text: it is all that a thread gets, so a bundler needs to know of no other file. It takes parts of the
 * step that is being computed, and sleeps when there are none; `team.ts` has the other side, and says what the numbers in `control` mean.
 */
import { words } from "./words.ts";

/** Looks for a part before a thread sleeps: some ten microseconds. */
const looks = 4000;

/** A script for a worker of Node.js (CommonJS) or of a browser (classic). */
export const threadProgram = `"use strict";
const parent = typeof require === "function" ? require("node:worker_threads").parentPort : undefined;
const answer = (value) => (parent ?? globalThis).postMessage(value);
const programs = new Map();
let control;
let command = 0;
function receive(message) {
  const { kind, id } = message;
  let failure;
  try {
    if (kind === "begin") control = message.control;
    else if (kind === "drop") programs.delete(id);
    else {
      const { exports } = new WebAssembly.Instance(message.module, { env: { memory: message.memory } });
      programs.set(id, { steps: message.steps.map((name) => exports[name]), thread: message.thread });
    }
  } catch (error) {
    failure = String(error);
  }
  command = message.command;
  answer({ command, failure });
  help();
}
function help() {
  for (let look = 0; ; look++) {
    if (Atomics.load(control, ${words.command}) !== command) return;
    const left = Atomics.load(control, ${words.left});
    if (left > 0) {
      if (Atomics.compareExchange(control, ${words.left}, left, left - 1) === left) compute(left - 1);
      look = 0;
    } else if (look > ${looks}) {
      const signal = Atomics.load(control, ${words.signal});
      Atomics.add(control, ${words.sleeping}, 1);
      if (Atomics.load(control, ${words.left}) <= 0 && Atomics.load(control, ${words.command}) === command)
        Atomics.wait(control, ${words.signal}, signal);
      Atomics.sub(control, ${words.sleeping}, 1);
      look = 0;
    }
  }
}
function compute(part) {
  try {
    const { steps, thread } = programs.get(control[${words.program}]);
    const begin = control[${words.begin}];
    const units = control[${words.units}];
    const parts = control[${words.parts}];
    const place = (at) => begin + Math.floor((units * at) / parts);
    steps[control[${words.step}]](place(part), place(part + 1), thread);
  } catch {
    Atomics.store(control, ${words.failed}, 1);
  }
  Atomics.add(control, ${words.done}, 1);
  if (Atomics.load(control, ${words.waiting}) > 0) Atomics.notify(control, ${words.done});
}
if (parent) parent.on("message", receive);
else globalThis.onmessage = ({ data }) => receive(data);
`;
