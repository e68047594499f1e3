import { expect, it } from "vitest";
import { type WarmUpLimits, warmUp } from "./warm-up.ts";

const limits: WarmUpLimits = {
  window: { runs: 2, milliseconds: 0, long: 10_000 },
  settled: 2,
  tolerance: 0.1,
  least: { runs: 0, milliseconds: 0 },
  longest: 1000,
};

/** A clock that moves on in the runs alone, which take the given times, the last one again and again. */
function runs(times: readonly number[]) {
  let time = 0;
  let done = 0;
  return {
    now: () => time,
    run: () => {
      time += times[Math.min(done++, times.length - 1)] ?? 0;
    },
  };
}

it("goes on while windows become faster, and ends when some in a row do not", async () => {
  const { run, now } = runs([50, 40, 30, 20, 10]);
  // Windows: 50 40, 30 20, then 10 10, and two that are not faster.
  expect(await warmUp(run, now, limits)).toEqual({ runs: 10, stable: true, least: 10 });
});

it("takes a window within the tolerance for settled, and one beyond it not", async () => {
  const within = runs([100, 100, 91, 91, 91]);
  expect(await warmUp(within.run, within.now, limits)).toEqual({ runs: 6, stable: true, least: 91 });
  const beyond = runs([100, 100, 89, 89, 89]);
  expect(await warmUp(beyond.run, beyond.now, limits)).toEqual({ runs: 8, stable: true, least: 89 });
});

it("runs at least so often though the times have settled, and no longer once that has taken its time", async () => {
  const settled = runs([10]);
  expect(await warmUp(settled.run, settled.now, { ...limits, least: { runs: 8, milliseconds: 500 } })).toMatchObject({
    runs: 8,
    stable: true,
  });
  // Three windows settle in 60 ms; the fifth ends at 100 ms.
  const slow = runs([10]);
  expect(await warmUp(slow.run, slow.now, { ...limits, least: { runs: 99, milliseconds: 100 } })).toMatchObject({
    runs: 10,
    stable: true,
  });
});

it("ends after the longest time, and says that the times had not settled", async () => {
  const falling = runs(Array.from({ length: 100 }, (_, place) => 500 * 0.8 ** place));
  // The first window takes 900 ms, the second one passes 1000.
  expect(await warmUp(falling.run, falling.now, limits)).toMatchObject({ runs: 4, stable: false });
});

it("runs one window of a network that takes longer than all of the warm-up", async () => {
  const slow = runs([5000]);
  expect(await warmUp(slow.run, slow.now, limits)).toEqual({ runs: 2, stable: false, least: 5000 });
});

it("fills a window with as many runs as its milliseconds need", async () => {
  const { run, now } = runs([1]);
  const long = { ...limits, window: { runs: 2, milliseconds: 5, long: 10_000 } };
  expect(await warmUp(run, now, long)).toEqual({ runs: 15, stable: true, least: 1 });
});

it("ends a window of few runs once they take long", async () => {
  const long = { ...limits, window: { runs: 5, milliseconds: 0, long: 300 }, longest: 100_000 };
  const slow = runs([300]);
  expect(await warmUp(slow.run, slow.now, long)).toEqual({ runs: 3, stable: true, least: 300 });
  const faster = runs([299]);
  expect(await warmUp(faster.run, faster.now, long)).toEqual({ runs: 6, stable: true, least: 299 });
});
