import { nextTurn } from "@nnhal/utils/time";
import { expect, it } from "vitest";
import { createTurnLimit } from "./turn-limit.ts";

it("says when a turn of the event loop has lasted as long as it may: both sides of the bound", () => {
  const turnLimit = createTurnLimit(10n);
  expect([100n, 109n, 110n, 111n].map((time) => turnLimit.isSpent(time))).toEqual([false, false, true, true]);
});

it("counts every turn anew", async () => {
  const turnLimit = createTurnLimit(10n);
  turnLimit.isSpent(100n);
  for (let turns = 0; turns < 100; turns++) await Promise.resolve();
  expect(turnLimit.isSpent(110n)).toBe(true);
  await nextTurn();
  expect([200n, 209n, 210n].map((time) => turnLimit.isSpent(time))).toEqual([false, false, true]);
});
