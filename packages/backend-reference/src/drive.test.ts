import { describe, expect, it } from "vitest";
import { drive } from "./drive.ts";

/** A clock that advances by a step at every look. */
function clock(step: bigint): () => bigint {
  let time = 0n;
  return () => {
    time += step;
    return time;
  };
}

function* countTo(count: number): Generator<void, number> {
  for (let step = 0; step < count; step++) yield;
  return count;
}

const MILLISECOND = 1_000_000n;

describe("drive", () => {
  it("gives the result of the computation", async () => {
    await expect(drive(countTo(3), { now: clock(1n) }, -1)).resolves.toBe(3);
  });

  it("ends the computation when the deadline is reached, and not before", async () => {
    const now = clock(MILLISECOND);
    await expect(drive(countTo(3), { now, deadline: 5n * MILLISECOND }, -1)).resolves.toBe(3);
    await expect(drive(countTo(3), { now: clock(MILLISECOND), deadline: 4n * MILLISECOND }, -1)).resolves.toBe(-1);
  });

  it("lets the event loop turn when pauses have held it for 10 ms", async () => {
    const turns: number[] = [];
    let steps = 0;
    const timer = setInterval(() => turns.push(steps), 0);
    const counting = (function* () {
      for (steps = 0; steps < 200; steps++) yield;
      return steps;
    })();
    // Wall time: the timer fires whenever the loop turns and a millisecond has passed.
    const slow = function* (): Generator<void, number> {
      for (;;) {
        const step = counting.next();
        if (step.done) return step.value;
        const end = performance.now() + 1;
        while (performance.now() < end);
        yield;
      }
    };
    await drive(slow(), { now: process.hrtime.bigint }, -1);
    clearInterval(timer);
    expect(turns.length).toBeGreaterThan(2);
  });

  it("rejects with what the computation throws", async () => {
    const failing = (function* (): Generator<void, number> {
      yield;
      throw new Error("broken");
    })();
    await expect(drive(failing, { now: clock(1n) }, -1)).rejects.toThrow("broken");
  });
});
