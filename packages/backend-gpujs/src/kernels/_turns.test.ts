import { afterEach, expect, it, vi } from "vitest";
import { inTurns } from "./_turns.ts";

afterEach(() => vi.restoreAllMocks());

/** Takes so many milliseconds between two pauses. */
function computation(pauses: number, milliseconds: number): Generator<void, string> {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const parts = function* (): Generator<void, string> {
    for (let pause = 0; pause < pauses; pause++) {
      now += milliseconds;
      yield;
    }
    return "done";
  };
  return parts();
}

it("gives the result of a short computation at once", () => {
  expect(inTurns(computation(9, 1))).toBe("done");
});

it("lets the event loop turn whenever a slice of 10 ms is over", async () => {
  const result = inTurns(computation(10, 5));
  expect(result).toBeInstanceOf(Promise);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await result).toBe("done");
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(3);
});

it("rejects with what the computation throws after a turn", async () => {
  const failing = function* (before: Generator<void, string>): Generator<void, string> {
    yield* before;
    throw new Error("no room");
  };
  await expect(inTurns(failing(computation(3, 20)))).rejects.toThrow("no room");
});
