import { expect, it } from "vitest";
import { createStopwatch } from "./phases.ts";

it("has each phase until the next begins, and the last until the end", () => {
  const times = [100, 101, 104, 110];
  const stopwatch = createStopwatch(() => times.shift() ?? Number.NaN);
  stopwatch.begin("one");
  stopwatch.begin("two");
  expect(stopwatch.end()).toEqual({
    time: 10,
    phases: [
      { name: "one", start: 1, time: 3 },
      { name: "two", start: 4, time: 6 },
    ],
  });
});

it("has no phases where none began", () => {
  const times = [5, 7];
  expect(createStopwatch(() => times.shift() ?? Number.NaN).end()).toEqual({ time: 2, phases: [] });
});
