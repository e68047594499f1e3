import { describe, expect, it } from "vitest";
import {
  deadlineOf,
  durationOf,
  earlierDeadline,
  greatestDeadline,
  hasDeadlinePassed,
  makeDeadline,
  makeTimeoutDuration,
  makeTimePoint,
} from "./deadline.ts";

describe("makeDeadline", () => {
  it.each([
    [0n, 5n],
    [7n, 12n],
    [-7n, 5n],
    [greatestDeadline - 5n, greatestDeadline],
    [greatestDeadline - 4n, greatestDeadline],
    [0xffff_ffff_ffff_ffffn, greatestDeadline],
  ])("%s ns from 5 is %s", (duration, expected) => {
    expect(makeDeadline(duration, 5n)).toBe(expected);
  });

  it("of no duration is none", () => {
    expect(makeDeadline(undefined, 5n)).toBeUndefined();
  });
});

describe("earlierDeadline", () => {
  it.each([
    [1n, 2n, 1n],
    [2n, 1n, 1n],
    [undefined, 2n, 2n],
    [1n, undefined, 1n],
    [undefined, undefined, undefined],
  ])("of %s and %s is %s", (a, b, expected) => {
    expect(earlierDeadline(a, b)).toBe(expected);
  });
});

describe("hasDeadlinePassed", () => {
  it.each([
    [undefined, false],
    [4n, true],
    [5n, true],
    [6n, false],
    [greatestDeadline, false],
  ])("%s at 5: %s", (deadline, expected) => {
    expect(hasDeadlinePassed(deadline, 5n)).toBe(expected);
  });
});

describe("HAL 1.3's unions", () => {
  it("say what they hold, or none", () => {
    for (const deadline of [undefined, 0n, 12n, greatestDeadline]) {
      expect(deadlineOf(makeTimePoint(deadline))).toBe(deadline);
      expect(durationOf(makeTimeoutDuration(deadline))).toBe(deadline);
    }
    expect(makeTimePoint(undefined)).toEqual({ kind: "none" });
    expect(makeTimePoint(3n)).toEqual({ kind: "nanosecondsSinceEpoch", nanosecondsSinceEpoch: 3n });
    expect(makeTimeoutDuration(3n)).toEqual({ kind: "nanoseconds", nanoseconds: 3n });
  });

  it("clamp time points that no steady clock reaches", () => {
    const nanosecondsSinceEpoch = 0xffff_ffff_ffff_ffffn;
    expect(deadlineOf({ kind: "nanosecondsSinceEpoch", nanosecondsSinceEpoch })).toBe(greatestDeadline);
    expect(deadlineOf(makeTimePoint(nanosecondsSinceEpoch))).toBe(greatestDeadline);
    expect(deadlineOf(makeTimePoint(-1n))).toBe(0n);
  });
});
