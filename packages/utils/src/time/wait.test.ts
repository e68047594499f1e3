import { setTimeout } from "node:timers/promises";
import { manualClock } from "@nnhal/test-kit/clock";
import { describe, expect, it, vi } from "vitest";
import { endBy, endsWithin, within } from "./wait.ts";

const never = new Promise<never>(() => {});

describe("within", () => {
  it("settles as the work does, and cancels its timer", async () => {
    const { timer } = manualClock();
    const clock = manualClock();
    const late = vi.fn(() => "late");
    expect(await within(Promise.resolve("in time"), 10n, clock.timer, late)).toBe("in time");
    await expect(within(Promise.reject(new Error("no")), 10n, timer, late)).rejects.toThrow("no");
    clock.advance(20n);
    await setTimeout();
    expect([late.mock.calls.length, clock.waiting]).toEqual([0, 0]);
  });

  it("settles as `late` does once the time is over, and not before", async () => {
    const clock = manualClock();
    const seen: unknown[] = [];
    void within<string>(never, 10n, clock.timer, () => "late").then((result) => seen.push(result));
    clock.advance(9n);
    await setTimeout();
    expect(seen).toEqual([]);
    clock.advance(1n);
    await setTimeout();
    expect(seen).toEqual(["late"]);
    const failing = within<string>(never, 10n, clock.timer, () => Promise.reject(new Error("too late")));
    clock.advance(10n);
    await expect(failing).rejects.toThrow("too late");
  });
});

describe("endsWithin", () => {
  it.each([
    ["resolves", () => Promise.resolve(1), true],
    ["rejects", () => Promise.reject(new Error("no")), true],
    ["does not end", () => never, false],
  ])("tells whether work that %s has ended", async (_, work, ended) => {
    const clock = manualClock();
    const waiting = endsWithin(work(), 10n, clock.timer);
    await setTimeout();
    clock.advance(10n);
    expect(await waiting).toBe(ended);
  });
});

describe("endBy", () => {
  it("waits again if a timer fires early, and sets no timer in the past", async () => {
    let time = 0n;
    let fire = () => {};
    const set: bigint[] = [];
    const clock = {
      now: () => time,
      timer(nanoseconds: bigint, callback: () => void) {
        set.push(nanoseconds);
        fire = callback;
        return () => {};
      },
    };
    const never = new Promise<string>(() => {});
    const seen: string[] = [];
    void endBy(never, 100n, clock, () => "late").then((result) => seen.push(result));
    time = 60n;
    fire();
    await setTimeout();
    expect(seen).toEqual([]);
    time = 100n;
    fire();
    await setTimeout();
    expect(seen).toEqual(["late"]);
    void endBy(never, 50n, clock, () => "past").then((result) => seen.push(result));
    await setTimeout();
    expect([set, seen]).toEqual([[100n, 40n, 1n], ["late"]]);
    fire();
    await setTimeout();
    expect(seen).toEqual(["late", "past"]);
  });

  it("tells of a result that comes too late, and of no other", async () => {
    const { now, timer, advance } = manualClock();
    const ignored = vi.fn();
    expect(await endBy(Promise.resolve("in time"), 10n, { now, timer }, () => "late", ignored)).toBe("in time");
    let resolve: (result: string) => void = () => {};
    const work = new Promise<string>((settle) => {
      resolve = settle;
    });
    const ended = endBy(work, 10n, { now, timer }, () => "late", ignored);
    advance(10n);
    expect(await ended).toBe("late");
    expect(ignored).not.toHaveBeenCalled();
    resolve("too late");
    await setTimeout();
    expect(ignored.mock.calls).toEqual([["too late"]]);
  });
});
