import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localSignal, sharedSignal } from "../memory/signal.ts";
import { checkRing, initialiseRing, ringReader, ringWords, ringWriter, wordsPerSlot } from "./ring.ts";
import { startWorker } from "./start-worker.test-helper.ts";
import { createTurns, sleepUntil } from "./waiting.ts";

function makeRing(capacity: number, start = 0) {
  const words = new Int32Array(new SharedArrayBuffer(ringWords(capacity) * 4));
  initialiseRing(words, capacity, start);
  const signal = localSignal();
  return { words, writer: ringWriter(words, capacity, signal), reader: ringReader(words, capacity, signal) };
}

/** A packet of some slots, whose words are all different from those of packets before. */
function packetOf(slots: number, first: number): Int32Array {
  return Int32Array.from({ length: slots * wordsPerSlot }, (_, index) => first + index);
}

/** The words of a ring's own counters, found by what moves. */
const tailWord = 16;
const headWord = 32;

describe("a ring", () => {
  it("behaves like a queue, wherever its counters are", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("write" as const), slots: fc.integer({ min: 1, max: 10 }) }),
      fc.record({ kind: fc.constant("read" as const) }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(2, 4, 8),
        // Some of these let the counters wrap around 2^31 and 2^32 on the way.
        fc.constantFrom(0, 5, 0x7fff_fffa, -6, -1),
        fc.array(step, { maxLength: 60 }),
        (capacity, start, steps) => {
          const { writer, reader } = makeRing(capacity, start);
          const queue: number[] = [];
          let next = 1;
          for (const action of steps) {
            if (action.kind === "write") {
              const packet = packetOf(action.slots, next);
              const fits = queue.length / wordsPerSlot + action.slots <= capacity;
              expect(writer.write(packet)).toBe(fits);
              if (fits) queue.push(...packet);
              next += packet.length;
            } else {
              const read = reader.read();
              expect(read === undefined ? [] : [...read]).toEqual(queue.splice(0));
            }
            expect(writer.free()).toBe(capacity - queue.length / wordsPerSlot);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps what was read valid although it is written over", () => {
    const { writer, reader } = makeRing(2);
    writer.write(packetOf(2, 1));
    const read = reader.read();
    writer.write(packetOf(2, 100));
    expect([...(read ?? [])]).toEqual([...packetOf(2, 1)]);
  });

  it.each([
    ["ahead by more than there is", 9],
    ["behind the head", -1],
  ])("answers a tail %s with an empty packet, and goes on", (_what, tail) => {
    const { words, writer, reader } = makeRing(8);
    writer.write(packetOf(3, 1));
    reader.read();
    words[tailWord] = 3 + tail;
    expect(reader.read()).toHaveLength(0);
    expect(reader.read()).toBeUndefined();
    expect(words[headWord]).toBe(3 + tail);
  });

  it("accepts a tail that is ahead by the number of slots", () => {
    const { words, reader } = makeRing(8);
    words[tailWord] = 8;
    expect(reader.read()).toHaveLength(8 * wordsPerSlot);
  });

  it.each([
    ["ahead of the tail", 4],
    ["behind by more than there is", -6],
  ])("has no room if the head is %s", (_what, head) => {
    const { words, writer } = makeRing(8);
    writer.write(packetOf(3, 1));
    words[headWord] = head;
    expect(writer.free()).toBe(0);
    expect(writer.write(packetOf(1, 1))).toBe(false);
  });

  it("keeps its own counters to itself: the other end cannot move them", () => {
    const { words, writer, reader } = makeRing(8);
    words[headWord] = 77;
    words[headWord] = 0;
    writer.write(packetOf(1, 1));
    words[tailWord] = 100;
    writer.write(packetOf(1, 9));
    expect([...(reader.read() ?? [])]).toEqual([...packetOf(1, 1), ...packetOf(1, 9)]);
  });

  it("wakes a reader that sleeps, and one that is about to", async () => {
    const { writer, reader } = makeRing(8);
    const turns = createTurns(1);
    const sleeping = sleepUntil(reader, () => reader.read(), turns);
    await turns.give();
    writer.write(packetOf(1, 1));
    expect([...(await sleeping)]).toEqual([...packetOf(1, 1)]);
    const late = sleepUntil(reader, () => reader.read(), turns);
    writer.write(packetOf(1, 2));
    expect([...(await late)]).toEqual([...packetOf(1, 2)]);
  });

  it("wakes a writer that waits for room", async () => {
    const { writer, reader } = makeRing(2);
    writer.write(packetOf(2, 1));
    const written = sleepUntil(writer, () => writer.write(packetOf(1, 7)) || undefined, createTurns(1));
    reader.read();
    await written;
    expect([...(reader.read() ?? [])]).toEqual([...packetOf(1, 7)]);
  });

  it("reports to either end that the other is gone, and wakes it", async () => {
    const { writer, reader } = makeRing(2);
    const seen = sleepUntil(reader, () => reader.isPeerClosed() || undefined, createTurns(1));
    writer.close();
    expect(await seen).toBe(true);
    expect(writer.isPeerClosed()).toBe(false);
    reader.close();
    expect(writer.isPeerClosed()).toBe(true);
  });
});

describe("what is not a ring", () => {
  const words = new Int32Array(ringWords(8));
  initialiseRing(words, 8);

  it("is found out", () => {
    expect(checkRing(words, 8)).toBeUndefined();
    expect(checkRing(words.subarray(1), 8)).toHaveProperty("noRing", expect.stringContaining(`need ${ringWords(8)}`));
    expect(checkRing(new Int32Array(ringWords(8)), 8)).toEqual({ noRing: "its memory holds no ring" });
    expect(checkRing(words, 4)).toEqual({ noRing: "its ring: expected the announced 4 slots, got 8" });
  });

  it.each([0, 1, 3, 6, -8, 2.5, Number.NaN, 2 ** 17])("a ring of %d slots is none", (capacity) => {
    expect(checkRing(new Int32Array(8), capacity)).toHaveProperty("noRing", expect.stringContaining(`${capacity}`));
    expect(() => initialiseRing(new Int32Array(8), capacity)).toThrow(RangeError);
  });

  it.each([2, 4, 2 ** 16])("a ring of %d slots is one", (capacity) => {
    const made = new Int32Array(ringWords(capacity));
    initialiseRing(made, capacity);
    expect(checkRing(made, capacity)).toBeUndefined();
  });
});

describe("a ring between two threads", () => {
  it.each(["async", "block"])("loses, tears and reorders nothing (%s)", { timeout: 60_000 }, async (how) => {
    const capacity = 8;
    const packets = 20_000;
    const words = new Int32Array(new SharedArrayBuffer(ringWords(capacity) * 4));
    // The counters wrap around on the way.
    initialiseRing(words, capacity, -5000);
    const worker = startWorker(new URL("./ring-writer.test-worker.ts", import.meta.url), {
      words,
      capacity,
      packets,
      how,
    });
    const reader = ringReader(words, capacity, sharedSignal({ keepAlive: true }));
    const turns = createTurns(1);
    let next = 0;
    while (next < packets) {
      const read = await sleepUntil(reader, () => reader.read(), turns);
      // Whole packets only: each slot names its packet, the packet's length and the slot's index.
      for (let at = 0; at < read.length; ) {
        const length = elementAt(read, at + 1);
        for (let slot = 0; slot < length; slot++, at += wordsPerSlot) {
          const expected = [next, length, slot, next ^ slot, 0, 0, 0, next];
          if (!expected.every((word, index) => read[at + index] === word)) {
            expect([...read.subarray(at, at + wordsPerSlot)]).toEqual(expected);
          }
        }
        next++;
      }
    }
    expect(next).toBe(packets);
    await worker.ended;
  });
});
