import { elementAt } from "@nnhal/operations";
import { manualClock } from "@nnhal/test-kit/clock";
import { Priority } from "@nnhal/types";
import { nextTurn } from "@nnhal/utils/time";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScheduler } from "./scheduler.ts";
import { createTurnLimit } from "./turn-limit.ts";
import type { WaitingLimits } from "./waiting-places.ts";

const { LOW, MEDIUM, HIGH } = Priority;
const ageing = 100n;

/** A scheduler on a clock that stands still, and a list of the tasks that it started. */
function setUp(concurrency = 1, limits: WaitingLimits = {}) {
  const clock = manualClock();
  const scheduler = createScheduler({ ...limits, concurrency, ageing, now: clock.now, timer: clock.timer });
  const started: string[] = [];
  const enter = async (name: string, priority: Priority, client: object = scheduler, deadline?: bigint) => {
    const entry = await scheduler.enter({ client, priority, ...(deadline !== undefined && { deadline }) });
    started.push(entry === "started" ? name : `${name} ${entry}`);
  };
  /** Ends one piece of work after the other until nothing waits. */
  const drain = async () => {
    for (let turn = 0; turn < 100; turn++) {
      scheduler.leave();
      await Promise.resolve();
      await Promise.resolve();
      if (scheduler.waiting === 0) return;
    }
  };
  return { clock, scheduler, started, enter, drain };
}

describe("createScheduler", () => {
  it("starts work at once while there is room", async () => {
    const { scheduler, started, enter } = setUp(2);
    expect([scheduler.tryEnter(0n), scheduler.tryEnter(0n), scheduler.tryEnter(0n)]).toEqual([true, true, false]);
    const waiting = enter("late", LOW);
    expect(scheduler.waiting).toBe(1);
    scheduler.leave();
    await waiting;
    expect([started, scheduler.waiting]).toEqual([["late"], 0]);
    scheduler.leave();
    expect([scheduler.tryEnter(0n), scheduler.tryEnter(0n)]).toEqual([true, false]);
  });

  it("starts nothing that waits of a client that is dismissed, and all of the others'", async () => {
    const { clock, scheduler, started, enter, drain } = setUp();
    const [gone, other] = [{}, {}];
    scheduler.tryEnter(0n);
    void enter("gone 1", HIGH, gone, 50n);
    void enter("other 1", LOW, other);
    void enter("gone 2", LOW, gone);
    void enter("other 2", LOW, other);
    scheduler.dismiss(gone);
    scheduler.dismiss({});
    expect([scheduler.waiting, clock.waiting]).toEqual([2, 0]);
    await drain();
    expect(started).toEqual(["gone 1 dismissed", "gone 2 dismissed", "other 1", "other 2"]);
  });

  it("goes by priority, then by arrival", async () => {
    const { scheduler, started, enter, drain } = setUp();
    scheduler.tryEnter(0n);
    for (const [name, priority] of [
      ["low", LOW],
      ["medium 1", MEDIUM],
      ["high 1", HIGH],
      ["medium 2", MEDIUM],
      ["high 2", HIGH],
    ] as const) {
      void enter(name, priority);
    }
    await drain();
    expect(started).toEqual(["high 1", "high 2", "medium 1", "medium 2", "low"]);
  });

  it("lets waiting count as priority: both sides of two levels' worth", async () => {
    for (const [wait, first] of [
      [2n * ageing - 1n, "high"],
      [2n * ageing, "low"],
    ] as const) {
      const { clock, scheduler, started, enter, drain } = setUp();
      scheduler.tryEnter(0n);
      void enter("low", LOW);
      clock.advance(wait);
      void enter("high", HIGH);
      await drain();
      expect(started[0]).toBe(first);
    }
  });

  it("lets clients take turns, whatever their priorities", async () => {
    const { scheduler, started, enter, drain } = setUp();
    const [a, b] = [{}, {}];
    scheduler.tryEnter(0n);
    for (const index of [1, 2, 3]) void enter(`a${index}`, HIGH, a);
    for (const index of [1, 2]) void enter(`b${index}`, LOW, b);
    await drain();
    expect(started).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  });

  it("refuses waiting work at its deadline, and not before", async () => {
    const { clock, scheduler, started, enter, drain } = setUp();
    scheduler.tryEnter(0n);
    void enter("a", MEDIUM, scheduler, 10n);
    void enter("b", MEDIUM, scheduler, 11n);
    void enter("c", MEDIUM);
    clock.advance(10n);
    await Promise.resolve();
    await Promise.resolve();
    expect([started, scheduler.waiting]).toEqual([["a late"], 2]);
    await drain();
    expect(started).toEqual(["a late", "b", "c"]);
    expect(clock.waiting).toBe(0);
    await enter("d", MEDIUM, scheduler, 10n);
    expect(started.at(-1)).toBe("d late");
  });

  it("refuses a concurrency that would never start anything", () => {
    const { now } = manualClock();
    expect(() => createScheduler({ concurrency: 0, now })).toThrow(RangeError);
    expect(() => createScheduler({ concurrency: Number.NaN, now })).toThrow(RangeError);
  });

  it("refuses limits that would refuse everything", () => {
    const { now } = manualClock();
    const make = (limits: WaitingLimits) => () => createScheduler({ concurrency: 1, now, ...limits });
    expect(make({ waiting: 0 })).toThrow("a scheduler needs waiting of at least 1, not 0");
    expect(make({ waitingPerClient: 0 })).toThrow(RangeError);
    expect(make({ waiting: 1, waitingPerClient: 1 })).not.toThrow();
  });

  it("refuses work without a waiting place, and accepts work again when there is one", async () => {
    const { scheduler, started, enter, drain } = setUp(1, { waiting: 3, waitingPerClient: 2 });
    const [a, b] = [{}, {}];
    scheduler.tryEnter(0n);
    void enter("a1", LOW, a);
    void enter("a2", LOW, a);
    expect([scheduler.isFull(a), scheduler.isFull(b)]).toEqual([true, false]);
    await enter("a3", HIGH, a);
    void enter("b1", LOW, b);
    expect([scheduler.isFull(a), scheduler.isFull(b)]).toEqual([true, true]);
    await enter("b2", HIGH, b);
    expect([started, scheduler.waiting]).toEqual([["a3 full", "b2 full"], 3]);
    scheduler.leave();
    await Promise.resolve();
    expect([scheduler.isFull(a), scheduler.isFull(b)]).toEqual([false, false]);
    await drain();
    expect(started).toEqual(["a3 full", "b2 full", "a1", "b1", "a2"]);
  });

  it("counts places that are held beside the queue, each until it is given back once", async () => {
    const { scheduler, started, enter } = setUp(1, { waiting: 3, waitingPerClient: 2 });
    const client = {};
    const [first, second] = [scheduler.hold(client), scheduler.hold(client)];
    expect([scheduler.hold(client), scheduler.isFull(client), scheduler.waiting]).toEqual([undefined, true, 0]);
    scheduler.tryEnter(0n);
    await enter("early", HIGH, client);
    first?.();
    first?.();
    expect(scheduler.isFull(client)).toBe(false);
    void enter("fits", HIGH, client);
    expect(scheduler.isFull(client)).toBe(true);
    second?.();
    scheduler.leave();
    await Promise.resolve();
    await Promise.resolve();
    expect(started).toEqual(["early full", "fits"]);
  });

  it("releases the places of work that is late or dismissed", async () => {
    const { clock, scheduler, enter } = setUp(1, { waitingPerClient: 2 });
    const client = {};
    scheduler.tryEnter(0n);
    void enter("a", LOW, client, 10n);
    void enter("b", LOW, client);
    expect(scheduler.isFull(client)).toBe(true);
    clock.advance(10n);
    expect(scheduler.isFull(client)).toBe(false);
    void enter("c", LOW, client);
    scheduler.dismiss(client);
    expect([scheduler.isFull(client), scheduler.waiting]).toEqual([false, 0]);
  });

  it("keeps the order of what is left when much of it has become too late", async () => {
    const { clock, scheduler, started, enter, drain } = setUp(1);
    scheduler.tryEnter(0n);
    const kept: string[] = [];
    for (let index = 0; index < 200; index++) {
      const isKept = index % 5 === 0;
      if (isKept) kept.push(`${index}`);
      void enter(`${index}`, LOW, scheduler, isKept ? undefined : 10n);
    }
    clock.advance(10n);
    expect(scheduler.waiting).toBe(kept.length);
    await drain();
    expect(started.filter((name) => !name.endsWith("late"))).toEqual(kept);
    expect(started).toHaveLength(200);
  });

  it("starts what would make a turn of the event loop too long in the next one, in order", async () => {
    const clock = manualClock();
    const turnLimit = createTurnLimit(10n);
    const scheduler = createScheduler({ concurrency: 2, now: clock.now, timer: clock.timer, turnLimit });
    const started: number[] = [];
    const enter = async (index: number) => {
      await scheduler.enter({ client: scheduler, priority: LOW });
      started.push(index);
    };
    expect(scheduler.tryEnter(clock.now())).toBe(true);
    clock.advance(9n);
    expect(scheduler.tryEnter(clock.now())).toBe(true);
    void enter(1);
    void enter(2);
    clock.advance(1n);
    scheduler.leave();
    scheduler.leave();
    expect(scheduler.tryEnter(clock.now())).toBe(false);
    void enter(3);
    for (let turns = 0; turns < 100; turns++) await Promise.resolve();
    expect([started, scheduler.waiting]).toEqual([[], 3]);
    await nextTurn();
    expect([started, scheduler.waiting]).toEqual([[1, 2], 1]);
    scheduler.leave();
    await Promise.resolve();
    expect(started).toEqual([1, 2, 3]);
  });

  it("loses nothing, starts nothing twice, keeps its bound, and starves no client", async () => {
    const arrival = fc.record({
      client: fc.nat(3),
      priority: fc.constantFrom(LOW, MEDIUM, HIGH),
      after: fc.bigInt({ min: 0n, max: 150n }),
      deadline: fc.option(fc.bigInt({ min: 0n, max: 400n }), { nil: undefined }),
      /** Number of running tasks that end before it comes. */
      ends: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (arrivals, most) => {
        const clock = manualClock();
        const scheduler = createScheduler({ concurrency: most, ageing, now: clock.now, timer: clock.timer });
        const clients = [{}, {}, {}, {}];
        const settled = arrivals.map(() => 0);
        const startOrder: number[] = [];
        const cameAt: bigint[] = [];
        let running = 0;
        const settle = async () => {
          for (let turn = 0; turn < 4; turn++) await Promise.resolve();
        };
        const end = async (count: number) => {
          for (let index = 0; index < count && running > 0; index++) {
            running--;
            scheduler.leave();
            await settle();
          }
        };
        for (const [index, { client, priority, after, deadline, ends }] of arrivals.entries()) {
          clock.advance(after);
          await end(ends);
          cameAt[index] = clock.now();
          const limit = deadline === undefined ? {} : { deadline: clock.now() + deadline };
          const entering = scheduler.tryEnter(0n)
            ? Promise.resolve("started")
            : scheduler.enter({ client: elementAt(clients, client), priority, ...limit });
          void entering.then((entry) => {
            settled[index] = elementAt(settled, index) + 1;
            if (entry !== "started") return;
            startOrder.push(index);
            running++;
            expect(running).toBeLessThanOrEqual(most);
          });
          await settle();
        }
        while (running > 0) {
          clock.advance(10n);
          await end(1);
        }
        expect(settled).toEqual(arrivals.map(() => 1));
        expect([scheduler.waiting, clock.waiting]).toEqual([0, 0]);
        // Within one client nothing started before work that had waited two levels' worth longer.
        for (const [position, later] of startOrder.entries()) {
          for (const earlier of startOrder.slice(0, position)) {
            if (elementAt(arrivals, later).client !== elementAt(arrivals, earlier).client) continue;
            expect(elementAt(cameAt, earlier) - elementAt(cameAt, later)).toBeLessThan(2n * ageing);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it("starts low priority work in the end, however much high priority work keeps coming", async () => {
    const { clock, scheduler, started, enter } = setUp();
    scheduler.tryEnter(0n);
    void enter("low", LOW);
    for (let index = 0; index < 100 && !started.includes("low"); index++) {
      void enter(`high ${index}`, HIGH);
      void enter(`more ${index}`, HIGH);
      clock.advance(10n);
      scheduler.leave();
      await Promise.resolve();
      await Promise.resolve();
    }
    expect(started).toContain("low");
    expect(started.length).toBeGreaterThan(10);
  });
});
