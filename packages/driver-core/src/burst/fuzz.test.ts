import { elementAt } from "@nnhal/operations";
import { ErrorStatus, MeasureTiming } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resultWords } from "./data.ts";
import { adder, rawBurst } from "./raw-burst.test-helper.ts";
import { writeRequest } from "./request-codec.ts";
import { readResult } from "./result-codec.ts";
import { wordsPerSlot } from "./ring.ts";

const capacity = 64;

/** Damage that is done to the words of a good packet. */
const damage = fc.oneof(
  fc.record({
    kind: fc.constant("word" as const),
    at: fc.nat(),
    value: fc.oneof(fc.integer(), fc.integer({ min: -1, max: 9 })),
  }),
  fc.record({ kind: fc.constant("bit" as const), at: fc.nat(), value: fc.nat({ max: 31 }) }),
  fc.record({ kind: fc.constant("cut" as const), at: fc.nat(), value: fc.constant(0) }),
  fc.record({ kind: fc.constant("repeat" as const), at: fc.nat(), value: fc.nat({ max: 5 }) }),
  fc.record({ kind: fc.constant("garbage" as const), at: fc.nat({ max: capacity - 1 }), value: fc.integer() }),
);

function damagePacket(words: Int32Array, { kind, at, value }: { kind: string; at: number; value: number }): Int32Array {
  const slots = words.length / wordsPerSlot;
  const copy = words.slice();
  switch (kind) {
    case "word":
      copy[at % copy.length] = value;
      return copy;
    case "bit":
      copy[at % copy.length] = elementAt(copy, at % copy.length) ^ (1 << value);
      return copy;
    case "cut":
      return copy.subarray(0, (1 + (at % (slots - 1))) * wordsPerSlot);
    case "repeat": {
      const slot = copy.subarray((at % slots) * wordsPerSlot, ((at % slots) + 1) * wordsPerSlot);
      return Int32Array.of(...copy, ...Array.from({ length: value }, () => [...slot]).flat());
    }
    default:
      return Int32Array.from({ length: (at + 1) * wordsPerSlot }, (_, index) => Math.imul(value + index, 0x9e37_79b1));
  }
}

describe("a burst's service that is sent damaged packets", () => {
  it("answers each exactly once, and executes the good ones between them", { timeout: 60_000 }, async () => {
    const { model, memory, request, values } = adder();
    const burst = rawBurst(model, { requestCapacity: capacity, resultCapacity: 16 });
    const good = writeRequest(request, MeasureTiming.YES, [burst.memories.slotOf(memory, memory)]);
    let sent = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 8 }), async (list) => {
        for (const harm of list) {
          const packet = damagePacket(good, harm);
          burst.send(packet);
          sent++;
          const answer = readResult(resultWords(await burst.receive()));
          if ("malformed" in answer) throw new Error(answer.malformed);
          // Damage can hit words that belong to no field, or change nothing: the packet is good then.
          if (answer.status !== ErrorStatus.NONE) {
            refused++;
            expect([ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT]).toContain(answer.status);
            expect(answer).toMatchObject({ outputShapes: [], timing: notMeasured });
          }
          expect(burst.hasMore()).toBe(false);
        }
        values.set([list.length, 1, 0]);
        expect((await burst.ask(good)).status).toBe(ErrorStatus.NONE);
        expect(values[2]).toBe(list.length + 1);
      }),
      { numRuns: 1000 },
    );
    expect(refused).toBeGreaterThan(sent / 3);
    await burst.context.close();
  });

  it("stays up when words of its queues are overwritten while it works", { timeout: 60_000 }, async () => {
    const { model, memory, request } = adder();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(), fc.integer()), { minLength: 1, maxLength: 20 }), async (writes) => {
        const burst = rawBurst(model, { requestCapacity: 8, resultCapacity: 8 });
        const good = writeRequest({ ...request, inputs: [] }, MeasureTiming.NO, [
          burst.memories.slotOf(memory, memory),
        ]);
        const { words } = burst.requests;
        for (const [at, value] of writes) {
          burst.writer.write(good);
          words[at % words.length] = value;
          burst.signal.wake(words, 48);
          await new Promise((resolve) => setImmediate(resolve));
          burst.hasMore();
        }
        // However its queue looks by now, it can be ended.
        await burst.context.close();
      }),
      { numRuns: 200 },
    );
  });
});
