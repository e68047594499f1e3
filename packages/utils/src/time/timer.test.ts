import { manualClock } from "@nnhal/test-kit/clock";
import { describe, expect, it } from "vitest";
import { callAfter, callAt, type Timer } from "./timer.ts";

describe.each([
  ["callAt", callAt],
  ["callAfter", callAfter],
])("%s", (_, call) => {
  it("calls back at the time, however early the timer is", () => {
    const clock = manualClock();
    let calls = 0;
    const timer: Timer = (nanoseconds, callback) => clock.timer(nanoseconds - 3n, callback);
    call(10n, { ...clock, timer }, () => calls++);
    clock.advance(7n);
    expect([calls, clock.waiting]).toEqual([0, 1]);
    clock.advance(3n);
    expect([calls, clock.waiting]).toEqual([1, 0]);
  });

  it("can be cancelled, before the first timer and between two", () => {
    const clock = manualClock();
    let calls = 0;
    call(10n, clock, () => calls++)();
    const timer: Timer = (nanoseconds, callback) => clock.timer(nanoseconds - 3n, callback);
    const cancel = call(10n, { ...clock, timer }, () => calls++);
    clock.advance(7n);
    cancel();
    clock.advance(10n);
    expect([calls, clock.waiting]).toEqual([0, 0]);
  });
});

it("callAt calls back at once for a time that is past, callAfter never in this turn", () => {
  const clock = manualClock(5n);
  let [at, after] = [0, 0];
  callAt(5n, clock, () => at++);
  callAfter(5n, clock, () => after++);
  expect([at, after]).toEqual([1, 0]);
  clock.advance(1n);
  expect(after).toBe(1);
});
