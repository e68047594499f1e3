import { manualClock } from "@nnhal/test-kit/clock";
import { describe, expect, it, vi } from "vitest";
import { createWatchdog } from "./watchdog.ts";

function watch(interval = 10n) {
  const clock = manualClock();
  return { clock, watchdog: createWatchdog({ interval, timer: clock.timer }) };
}

describe("a watchdog", () => {
  it("looks once per interval, with the time that has passed at least, until it is done", () => {
    const { clock, watchdog } = watch();
    const look = vi.fn();
    const done = watchdog.watch(look);
    for (let count = 0; count < 3; count++) clock.advance(10n);
    done();
    clock.advance(10n);
    expect(look.mock.calls).toEqual([[0n], [10n], [20n]]);
  });

  it("has one timer for all, and none once there is nothing to look at", () => {
    const { clock, watchdog } = watch();
    const done = [watchdog.watch(() => {}), watchdog.watch(() => {})];
    expect(clock.waiting).toBe(1);
    for (const end of done) end();
    clock.advance(10n);
    expect(clock.waiting).toBe(0);
    watchdog.watch(() => {});
    expect(clock.waiting).toBe(1);
  });

  it("does not look at what another look has ended", () => {
    const { clock, watchdog } = watch();
    const second = vi.fn();
    let end = () => {};
    watchdog.watch(() => end());
    end = watchdog.watch(second);
    clock.advance(10n);
    expect(second).not.toHaveBeenCalled();
  });

  it("settles as the promise does, if it does in time", async () => {
    const { clock, watchdog } = watch();
    const late = vi.fn(() => "late");
    expect(await watchdog.within(Promise.resolve("in time"), 10n, late)).toBe("in time");
    await expect(watchdog.within(Promise.reject(new Error("no")), 10n, late)).rejects.toThrow("no");
    clock.advance(1000n);
    expect(late).not.toHaveBeenCalled();
  });

  it.each([
    [1n, 2],
    [10n, 2],
    [11n, 3],
    [20n, 3],
  ])("answers for a promise that takes longer than %d ns after %d intervals of 10 ns", async (limit, intervals) => {
    const { clock, watchdog } = watch();
    const late = vi.fn(() => "late");
    let settle: (value: string) => void = () => {};
    const slow = new Promise<string>((resolve) => {
      settle = resolve;
    });
    const answer = watchdog.within(slow, limit, late);
    for (let count = 1; count < intervals; count++) clock.advance(10n);
    expect(late).not.toHaveBeenCalled();
    clock.advance(10n);
    expect(await answer).toBe("late");
    settle("too late");
    clock.advance(1000n);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it("looks at nothing once it is stopped", () => {
    const { clock, watchdog } = watch();
    const look = vi.fn();
    watchdog.watch(look);
    watchdog.stop();
    expect(clock.waiting).toBe(0);
    watchdog.watch(look);
    clock.advance(100n);
    expect(look).not.toHaveBeenCalled();
  });
});
