import { describe, expect, it } from "vitest";
import { awaitValue, drive, type Steps, settle } from "./steps.ts";
import { isTurnDue, turn } from "./turns.ts";

const never = () => {};

function* countTo(count: number): Steps<number> {
  for (let step = 0; step < count; step++) yield;
  return count;
}

/** Blocks the event loop for some milliseconds of wall time. */
function hold(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe("drive", () => {
  it("returns the result of the computation, at once if it never pauses", async () => {
    expect(drive(countTo(0), never)).toBe(0);
    await expect(drive(countTo(3), never)).resolves.toBe(3);
  });

  it("waits for promises", async () => {
    const steps = (function* (): Steps<number> {
      const first = yield* settle(Promise.resolve(2));
      return first + (yield* awaitValue(Promise.resolve(3))) + (yield* awaitValue(4));
    })();
    await expect(drive(steps, never)).resolves.toBe(9);
  });

  it("throws errors of the check and of promises into the computation", async () => {
    const events: string[] = [];
    const steps = (given?: Promise<void>) =>
      (function* (): Steps<string> {
        try {
          yield given;
          return "done";
        } catch (error) {
          return String(error);
        } finally {
          events.push("freed");
        }
      })();
    await expect(
      drive(steps(), () => {
        throw new Error("late");
      }),
    ).resolves.toBe("Error: late");
    await expect(drive(steps(Promise.reject(new Error("lost"))), never)).resolves.toBe("Error: lost");
    await expect(drive(steps(), never)).resolves.toBe("done");
    expect(events).toEqual(["freed", "freed", "freed"]);
  });

  it("rejects with an error of the computation", async () => {
    const failing = (function* (): Steps<number> {
      yield;
      throw new Error("broken");
    })();
    await expect(drive(failing, never)).rejects.toThrow("broken");
  });

  it("lets the event loop turn when a slice is over", async () => {
    const turns: number[] = [];
    let steps = 0;
    const timer = setInterval(() => turns.push(steps), 0);
    await drive(
      (function* (): Steps<void> {
        for (steps = 0; steps < 100; steps++) {
          hold(1);
          yield;
        }
      })(),
      never,
    );
    clearInterval(timer);
    expect(turns.length).toBeGreaterThan(2);
  });
});

describe("turns", () => {
  it("let one computation go on in each turn of the event loop", async () => {
    const order: string[] = [];
    let isOver = false;
    const count = () => {
      if (isOver) return;
      order.push("turn");
      setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(["a", "b", "c"].map((name) => turn().then(() => order.push(name))));
    isOver = true;
    const places = ["a", "b", "c"].map((name) => order.indexOf(name));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    for (const [first, second] of [places.slice(0, 2), places.slice(1)]) {
      expect(order.slice(first, second)).toContain("turn");
    }
  });

  it("are due after a slice, even for a new computation, until the event loop has turned", async () => {
    await turn();
    hold(25);
    expect(isTurnDue()).toBe(true);
    // The first immediate may run before the one that ends the slice.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(isTurnDue()).toBe(false);
  });
});
