import { expect, it } from "vitest";
import { createBreather } from "./breather.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("lets others run when a turn of the event loop has lasted as long as it may, not before", async () => {
  const breather = createBreather(10n);
  expect([breather.pause(100n), breather.pause(109n)]).toEqual([undefined, undefined]);
  const pause = breather.pause(110n);
  expect(pause).toBeInstanceOf(Promise);
  let isOver = false;
  void pause?.then(() => {
    isOver = true;
  });
  for (let turns = 0; turns < 100; turns++) await Promise.resolve();
  expect(isOver).toBe(false);
  await turn();
  expect(isOver).toBe(true);
});

it("counts every turn anew", async () => {
  const breather = createBreather(10n);
  breather.pause(100n);
  await turn();
  expect([breather.pause(200n), breather.pause(209n)]).toEqual([undefined, undefined]);
  expect(breather.pause(210n)).toBeInstanceOf(Promise);
});
