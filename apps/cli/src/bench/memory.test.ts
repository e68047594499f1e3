import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createMemoryMeter, heapForEachRun, heapRuns } from "./memory.ts";

describe("heapForEachRun", () => {
  it("counts what a run allocates on the heap", async () => {
    let kept: unknown;
    const found = await heapForEachRun(() => {
      // Elements of 8 bytes, as numbers that are not small integers.
      kept = Array.from({ length: 1000 }, (_, place) => place + 0.5);
    });
    expect(kept).toHaveLength(1000);
    expect(found).toBeGreaterThan(8000);
    expect(found).toBeLessThan(80_000);
  });

  it("counts next to nothing for a run that allocates nothing", async () => {
    expect(await heapForEachRun(() => {})).toBeLessThan(1000);
  });
});

describe("heapRuns", () => {
  it("follows from the time of a run", () => {
    const usual = { runs: 20, before: 10, measurements: 7 };
    expect(heapRuns(0)).toEqual(usual);
    expect(heapRuns(10_000 / 210)).toEqual(usual);
    expect(heapRuns(10_000 / 209)).toEqual({ runs: 20, before: 9, measurements: 7 });
    expect(heapRuns(1000)).toEqual({ runs: 1, before: 1, measurements: 5 });
    expect(heapRuns(60_000)).toEqual({ runs: 1, before: 1, measurements: 1 });
    for (let time = 1; time < 5000; time += 7) {
      const { runs, before, measurements } = heapRuns(time);
      expect((runs + before) * measurements * time).toBeLessThanOrEqual(10_000);
    }
  });
});

describe("the memory meter", () => {
  it("sees a peak that is gone when it is read", () => {
    const meter = createMemoryMeter();
    let block: Uint8Array | undefined = new Uint8Array(64 * 2 ** 20).fill(1);
    expect(block[5]).toBe(1);
    block = undefined;
    expect(meter.growth()).toBeGreaterThan(60 * 2 ** 20);
  });

  it("begins with what is resident already", () => {
    const block = new Uint8Array(64 * 2 ** 20).fill(1);
    const meter = createMemoryMeter();
    expect(block[5]).toBe(1);
    // Other systems know only the peak of the whole process.
    const canReset = existsSync("/proc/self/clear_refs");
    expect(meter.growth()).toBeLessThan(canReset ? 60 * 2 ** 20 : Number.POSITIVE_INFINITY);
  });
});
