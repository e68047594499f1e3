import { expect, it } from "vitest";
import { settle } from "./settle.ts";

/** A process that uses the given share of a processor until a time; `slept` has how long it was waited for. */
function process(share: number, until: number) {
  let time = 0;
  let used = 0;
  return {
    now: () => time,
    readUsed: () => used,
    sleep: async (milliseconds: number) => {
      used += share * Math.max(0, Math.min(milliseconds, until - time));
      time += milliseconds;
    },
  };
}

it("looks once at a process that is idle", async () => {
  const idle = process(0, 0);
  await settle(idle);
  expect(idle.now()).toBe(5);
});

it("waits until a thread has stopped", async () => {
  const spinning = process(1, 31);
  await settle(spinning);
  // Between 30 and 35 ms it used a fifth of a processor.
  expect(spinning.now()).toBe(35);
});

it("takes less than a quarter of a processor for idle, and a quarter not", async () => {
  const below = process(0.24, 1000);
  await settle(below);
  expect(below.now()).toBe(5);
  const at = process(0.25, 100);
  await settle(at);
  expect(at.now()).toBe(105);
});

it("ends after half a second if the process never stops", async () => {
  const endless = process(2, Number.POSITIVE_INFINITY);
  await settle(endless);
  expect(endless.now()).toBe(500);
});
