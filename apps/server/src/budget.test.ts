import { expect, test, vi } from "vitest";
import { createBudget } from "./budget.ts";

test("requests hold up to the limit together, and give it back", () => {
  const budget = createBudget(100);
  const [one, other] = [budget.open(() => {}), budget.open(() => {})];
  one.hold(60);
  one.markArrived();
  other.hold(40);
  expect(budget.held).toBe(100);
  expect(() => other.hold(41)).toThrow(expect.objectContaining({ kind: "busy", retryAfter: 1 }));
  one.release();
  other.hold(100);
  expect(() => other.hold(101)).toThrow(expect.objectContaining({ kind: "tooLarge" }));
  expect(budget.held).toBe(100);
  other.release();
  other.release();
  expect(budget.held).toBe(0);
  expect(() => other.hold(1)).toThrow(expect.objectContaining({ kind: "busy" }));
});

test("the largest request that still arrives is given up for a smaller one", () => {
  const budget = createBudget(100);
  const [giveUpLarge, giveUpSmall] = [vi.fn(), vi.fn()];
  const large = budget.open(giveUpLarge);
  large.hold(70);
  const small = budget.open(giveUpSmall);
  small.hold(30);
  const next = budget.open(() => {});
  next.hold(20);
  expect([giveUpLarge.mock.calls.length, giveUpSmall.mock.calls.length]).toEqual([1, 0]);
  expect(giveUpLarge.mock.calls[0]?.[0]).toMatchObject({ kind: "busy" });
  expect(budget.held).toBe(50);
  // A request of the same size has no priority over the others.
  next.hold(70);
  expect(() => small.hold(71)).toThrow(expect.objectContaining({ kind: "busy" }));
});

test("an answer is kept however large, and given up only when its client lets it wait", () => {
  const budget = createBudget(100);
  const [giveUp, end] = [vi.fn(), vi.fn()];
  const done = budget.open(giveUp);
  done.hold(10);
  done.markArrived();
  done.keep(500);
  const next = budget.open(() => {});
  expect(() => next.hold(1)).toThrow();
  done.waits(end);
  next.hold(1);
  expect([giveUp.mock.calls.length, end.mock.calls.length, budget.held]).toEqual([0, 1, 1]);
});
