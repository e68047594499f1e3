import { expect, it } from "vitest";
import { createWatch, type Look } from "./watch.ts";

const limits = { cpuLimit: 3000, silenceLimit: 1000, lookEvery: 100 };
const waiting: Look = { number: 1, cpu: 50, isWaiting: true };

/** Returns the result of the last of some looks. */
function lastOf(looks: readonly Look[]): string | undefined {
  const look = createWatch(limits);
  return looks.map(look).at(-1);
}

const times = (count: number, look: Look) => Array.from({ length: count }, () => look);

it.each([
  ["waits as long as it is allowed", times(11, waiting), undefined],
  ["waits longer", times(12, waiting), "there is no answer after 1000 ms"],
  ["waits longer before its first input", times(30, { ...waiting, number: 0 }), undefined],
  ["is stopped, or waits for the processor", times(30, { ...waiting, isWaiting: false }), undefined],
  [
    "waits with a stop between",
    [...times(8, waiting), { ...waiting, isWaiting: false }, ...times(8, waiting)],
    undefined,
  ],
  ["begins another input", [...times(8, waiting), ...times(8, { ...waiting, number: 2 })], undefined],
  ["uses the processor now and then", [...times(8, waiting), ...times(8, { ...waiting, cpu: 60 })], undefined],
  ["uses the processor as long as it is allowed", [waiting, { ...waiting, cpu: 6050 }], undefined],
  ["uses it longer", [waiting, { ...waiting, cpu: 6060 }], "it has used 6010 ms of processor time, and has not ended"],
  ["uses it for several inputs", [waiting, { ...waiting, number: 2, cpu: 6060 }], undefined],
])("a process that %s", (_what, looks, reason) => {
  expect(lastOf(looks)).toBe(reason);
});
