import { describe, expect, it } from "vitest";
import { contest, type Entry, limitOf, roundsFor, runsOfTurn, untilAborted, workOf } from "./contest.ts";
import type { ContestantId } from "./contestant.ts";
import type { Footprint, Prepared, Station } from "./station.ts";

const device = (name: string): ContestantId => ({ kind: "device", name, path: "compute" });
const prepared: Prepared = { milliseconds: 1, keeps: false, first: 1, outputs: [] };
const footprint: Footprint = { memory: 1, heap: 2, outputs: [] };

/** An entry whose calls are noted in a list. */
function entry(name: string, calls: string[], changed: Partial<Station> = {}): Entry {
  const note = <Result>(what: string, result: Result) => {
    calls.push(`${name} ${what}`);
    return Promise.resolve(result);
  };
  const station: Station = {
    open: () => note("open", { version: "1", settings: [], threads: 1, milliseconds: 1 }),
    prepare: () => note("prepare", prepared),
    warmUp: () => note("warm up", { runs: 3, stable: true, least: 30 }),
    run: (count) => note(`run ${count}`, { times: Array.from({ length: count }, () => 30), cpu: 60 }),
    finish: () => note("finish", footprint),
    close: () => note("close", undefined),
    ...changed,
  };
  return { id: device(name), station };
}

function options(rounds: number | undefined, signal = new AbortController().signal) {
  const progress: string[] = [];
  return {
    progress,
    options: {
      rounds,
      signal,
      timeLimit: 60_000,
      title: ({ name }: ContestantId) => name,
      onProgress: (done: number, what: string) => void progress.push(`${done} ${what}`),
    },
  };
}

describe("contest", () => {
  it("prepares and warms up everyone, then lets them take turns in changing order", async () => {
    const calls: string[] = [];
    const { options: how, progress } = options(3);
    const entries = ["a", "b", "c"].map((name) => entry(name, calls));
    const results = await contest(entries, how);
    expect(calls.slice(0, 3)).toEqual(["a open", "a prepare", "a warm up"]);
    const turns = calls.filter((call) => call.includes("run")).map((call) => call[0]);
    expect(turns.join("")).toBe("abc" + "bac" + "cab");
    expect(calls.slice(-3)).toEqual(["a finish", "b finish", "c finish"]);
    expect(results.map(({ rounds, cpu }) => [rounds.length, cpu])).toEqual([
      [3, 180],
      [3, 180],
      [3, 180],
    ]);
    expect(results[0]).toMatchObject({ id: device("a"), prepared, footprint, warmUp: { least: 30 } });
    expect(progress[0]).toBe("0 a: preparing");
    expect(progress.at(-1)).toBe(`${workOf(3, 3) - 4} c: memory`);
  });

  it("goes on without those that are missing, cannot run the network, or fail", async () => {
    const calls: string[] = [];
    const { options: how } = options(2);
    const results = await contest(
      [
        entry("missing", calls, { open: async () => ({ unavailable: "not installed" }) }),
        entry("unable", calls, { prepare: async () => ({ cannot: "no CONV_2D" }) }),
        entry("broken", calls, { run: () => Promise.reject(new Error("lost\nits process")) }),
        entry("good", calls),
      ],
      how,
    );
    expect(results.map(({ problem }) => problem)).toEqual([
      { unavailable: "not installed" },
      { cannot: "no CONV_2D" },
      { failed: "lost its process" },
      undefined,
    ]);
    expect(results.map(({ rounds }) => rounds.length)).toEqual([0, 0, 0, 2]);
    expect(calls.filter((call) => call.startsWith("missing") || call.startsWith("unable"))).toEqual(["unable open"]);
  });

  it("gives up one whose work does not end in time, closes it, and goes on with the others", async () => {
    const calls: string[] = [];
    const never = () => new Promise<never>(() => {});
    const { options: how } = options(2);
    let turns = 0;
    const results = await contest(
      [
        entry("slow", calls, { prepare: never }),
        entry("late", calls, { run: async () => (++turns < 2 ? { times: [1], cpu: 1 } : never()) }),
        entry("good", calls),
      ],
      { ...how, timeLimit: 20 },
    );
    expect(results.map(({ problem }) => problem)).toEqual([
      { failed: "preparing took longer than the time limit of 0.02 s" },
      { failed: "round 2 of 2 took longer than the time limit of 0.02 s" },
      undefined,
    ]);
    expect(results.map(({ rounds }) => rounds.length)).toEqual([0, 1, 2]);
    expect(calls.filter((call) => call.endsWith("close"))).toEqual(["slow close", "late close"]);
  });

  it("keeps what was measured until it is interrupted, even in the middle of a turn", async () => {
    const calls: string[] = [];
    const controller = new AbortController();
    const never = new Promise<never>(() => {});
    let turns = 0;
    const stuck = entry("b", calls, {
      run: async () => {
        if (++turns < 2) return { times: [1], cpu: 1 };
        controller.abort();
        return never;
      },
    });
    const results = await contest([entry("a", calls), stuck], options(9, controller.signal).options);
    expect(results.map(({ rounds }) => rounds.length)).toEqual([1, 1]);
    expect(results.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    expect(calls).not.toContain("a finish");
  });
});

it("has as many rounds as fit a minute, if no number is given", async () => {
  expect(roundsFor([])).toBe(20);
  expect(roundsFor([1, 30])).toBe(20);
  // A turn is one run behind another: 2 x 1500 ms.
  expect(roundsFor([1500])).toBe(20);
  expect(roundsFor([1579])).toBe(18);
  expect(roundsFor([3000, 2000])).toBe(6);
  expect(roundsFor([10_000])).toBe(3);
  expect(roundsFor([100_000])).toBe(3);
  const calls: string[] = [];
  const slow = entry("a", calls, { warmUp: async () => ({ runs: 4, stable: true, least: 10_000 }) });
  const { options: how } = options(undefined);
  const known: number[] = [];
  const [result] = await contest([slow], { ...how, onRounds: (rounds) => known.push(rounds) });
  expect([known, result?.rounds.length]).toEqual([[3], 3]);
});

it("has limits that follow from the time of a run, if none is given", () => {
  expect(limitOf(5, 100_000)).toBe(5);
  expect(limitOf(undefined, undefined)).toBe(600_000);
  expect(limitOf(undefined, 6000)).toBe(120_000);
  expect(limitOf(undefined, 6001)).toBe(120_020);
});

it("gives turns about the same time, and at least two runs, of long runs one", () => {
  expect(runsOfTurn(30)).toBe(2);
  expect(runsOfTurn(10)).toBe(6);
  expect(runsOfTurn(999)).toBe(2);
  expect(runsOfTurn(1000)).toBe(1);
  expect(runsOfTurn(0.01)).toBe(500);
  expect(runsOfTurn(0)).toBe(500);
});

it("rejects at once if the signal is aborted already", async () => {
  await expect(untilAborted(new Promise(() => {}), AbortSignal.abort())).rejects.toThrow("interrupted");
  expect(await untilAborted(Promise.resolve(5), new AbortController().signal)).toBe(5);
});
