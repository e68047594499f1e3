import { describe, expect, it, onTestFinished, vi } from "vitest";
import { blockingSignal, localSignal, sharedSignal } from "../memory/signal.ts";
import { initialiseRing, ringReader, ringWords, ringWriter } from "./ring.ts";
import { createPoller, createTurns, sleepUntil } from "./waiting.ts";

describe("polling", () => {
  /** Counts how often a poller looks for a value that never comes. */
  const looks = (poller: ReturnType<typeof createPoller>) => {
    let count = 0;
    expect(
      poller.poll(() => {
        count++;
        return undefined;
      }),
    ).toBeUndefined();
    return count;
  };

  it("sees what is there at once, with one look", () => {
    let count = 0;
    expect(createPoller(50).poll(() => ++count)).toBe(1);
  });

  it("sees what comes while it looks", () => {
    let count = 0;
    expect(createPoller(1_000_000).poll(() => (++count > 1000 ? "seen" : undefined))).toBe("seen");
  });

  it("polls once without a window", () => {
    const poller = createPoller(0);
    expect([looks(poller), looks(poller), looks(poller)]).toEqual([1, 1, 1]);
  });

  it("polls less often while polling is unsuccessful, and again after a success", () => {
    const poller = createPoller(20);
    const isLong = () => looks(poller) > 1;
    const next = (count: number) =>
      Array.from({ length: count }, isLong)
        .map((long) => (long ? "P" : "."))
        .join("");
    expect(next(12)).toBe("P.P..P....P.");
    expect(next(7 + 1 + 16 + 1 + 32 + 1 + 64 + 1 + 64 + 1)).toBe(
      `${".".repeat(7)}P${".".repeat(16)}P${".".repeat(32)}P${".".repeat(64)}P${".".repeat(64)}P`,
    );
    // A value that is there at once says nothing about polling; a value that comes while polling does.
    expect(poller.poll(() => 1)).toBe(1);
    expect(next(64)).toBe(".".repeat(64));
    let count = 0;
    expect(poller.poll(() => (++count > 10 ? "seen" : undefined))).toBe("seen");
    expect(next(3)).toBe("P.P");
  });
});

describe("dozing", () => {
  it("begins when polling has seen nothing, and sees what comes meanwhile", () => {
    let isThere = false;
    let dozes = 0;
    const doze = (isReady: () => boolean, milliseconds: number) => {
      expect(isReady()).toBe(false);
      expect(milliseconds).toBeGreaterThan(0);
      isThere = ++dozes === 2;
    };
    // A clock of its own: another process may take the processor for longer than a doze may last.
    let time = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      time += 0.001;
      return time;
    });
    onTestFinished(() => clock.mockRestore());
    const poller = createPoller(1, { doze });
    expect(poller.poll(() => (isThere ? "seen" : undefined))).toBe("seen");
    expect(dozes).toBe(2);
    expect(poller.poll(() => "there")).toBe("there");
    expect(dozes).toBe(2);
  });

  it("ends after a moment, and is tried less often while it is unsuccessful", () => {
    const attempts: boolean[] = [];
    let isDozing = false;
    const doze = () => {
      isDozing = true;
    };
    const poller = createPoller(1, { doze });
    for (let wait = 0; wait < 12; wait++) {
      isDozing = false;
      expect(poller.poll(() => undefined)).toBeUndefined();
      attempts.push(isDozing);
    }
    expect(attempts.map((one) => (one ? "D" : ".")).join("")).toBe("D.D..D....D.");
  });

  it("is not done without a window of polling", () => {
    const poller = createPoller(0, {
      doze() {
        throw new Error("blocked");
      },
    });
    expect(poller.poll(() => undefined)).toBeUndefined();
  });

  it("at a ring ends with the packet that the other end writes, whatever came before it slept", () => {
    const words = new Int32Array(new SharedArrayBuffer(ringWords(2) * 4));
    initialiseRing(words, 2);
    const writer = ringWriter(words, 2, sharedSignal());
    let woken = 0;
    const signal = {
      ...sharedSignal(),
      doze(slept: Int32Array, index: number, expected: number) {
        // The other end writes between the last look and the sleep.
        writer.write(new Int32Array(8).fill(7));
        woken += Atomics.wait(slept, index, expected, 10_000) === "not-equal" ? 1 : 0;
      },
    };
    const reader = ringReader(words, 2, signal);
    const packet = createPoller(1, reader).poll(() => reader.read());
    expect([...(packet ?? [])]).toEqual(new Array(8).fill(7));
    expect(woken).toBe(1);
  });
});

describe("sleeping", () => {
  function makeRing(signal: ReturnType<typeof localSignal>, words: Int32Array) {
    initialiseRing(words, 2);
    return { writer: ringWriter(words, 2, signal), reader: ringReader(words, 2, signal) };
  }
  const memory = () => new Int32Array(new SharedArrayBuffer(ringWords(2) * 4));

  it.each([
    ["local", localSignal(), new Int32Array(ringWords(2))],
    ["shared", sharedSignal({ keepAlive: true }), memory()],
    ["blocking", blockingSignal({ milliseconds: 1 }), memory()],
  ])("ends when something is there, and not for other wake-ups (%s)", async (_name, signal, words) => {
    const { reader, writer } = makeRing(signal, words);
    let isThere = false;
    let looks = 0;
    const sleeping = sleepUntil(
      reader,
      () => {
        looks++;
        return isThere ? "seen" : undefined;
      },
      createTurns(1),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    const before = looks;
    reader.wake();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(looks).toBeGreaterThan(before);
    isThere = true;
    writer.write(new Int32Array(8));
    expect(await sleeping).toBe("seen");
  });

  it("is not confused by two rings in one buffer", async () => {
    const signal = localSignal();
    const buffer = new SharedArrayBuffer(ringWords(2) * 8);
    const ringAt = (at: number) => makeRing(signal, new Int32Array(buffer, at, ringWords(2)));
    const [first, second] = [ringAt(0), ringAt(ringWords(2) * 4)];
    const order: string[] = [];
    const sleepers = [
      sleepUntil(first.reader, () => first.reader.read(), createTurns(1)).then(() => order.push("first")),
      sleepUntil(second.reader, () => second.reader.read(), createTurns(1)).then(() => order.push("second")),
    ];
    second.writer.write(new Int32Array(8));
    await sleepers[1];
    expect(order).toEqual(["second"]);
    first.writer.write(new Int32Array(8));
    await sleepers[0];
    expect(order).toEqual(["second", "first"]);
  });
});
