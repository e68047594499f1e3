/** Waiting places, time limits, batches, and runners that fail: with a clock that the test sets. */
import { describe, expect, it } from "vitest";
import type { Clock } from "./clock.ts";
import { RequestError } from "./errors.ts";
import type { RunLimits, Runner } from "./runner.ts";
import { createScheduler, type SchedulerOptions } from "./scheduler.ts";
import { isByteList, type Tensor } from "./tensors.ts";
import type { Job } from "./waiting.ts";

function testClock() {
  let time = 0;
  const calls = new Set<{ at: number; call: () => void }>();
  const clock: Clock = {
    now: () => time,
    after(milliseconds, call) {
      const entry = { at: time + milliseconds, call };
      calls.add(entry);
      return () => calls.delete(entry);
    },
  };
  const advance = async (milliseconds: number) => {
    time += milliseconds;
    for (const entry of [...calls]) if (entry.at <= time && calls.delete(entry)) entry.call();
    await turns();
  };
  return { clock, advance, calls };
}

/** Waits for promises that can settle. */
async function turns() {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** A runner that ends a run, which returns its inputs, when the test says so. */
function testRunner() {
  const runs: {
    inputs: readonly Tensor[];
    limits: RunLimits;
    end(outputs?: readonly Tensor[]): Promise<void>;
    fail(error: Error): Promise<void>;
  }[] = [];
  const state = { alive: true, closed: 0 };
  const runner: Runner = {
    description: { inputs: [], outputs: [], devices: [], signatures: [], hasState: false },
    run: (inputs, limits) =>
      new Promise((resolve, reject) => {
        const { signal, onEnd } = limits;
        signal?.addEventListener("abort", () => reject(signal.reason));
        const end = async (outputs = inputs) => {
          resolve(outputs);
          onEnd?.();
          await turns();
        };
        const fail = async (error: Error) => {
          reject(error);
          onEnd?.();
          await turns();
        };
        runs.push({ inputs, limits, end, fail });
      }),
    isAlive: async () => state.alive,
    close: async () => void state.closed++,
  };
  return { runner, runs, state };
}

const tensor = (...values: number[]): Tensor => ({
  name: "given",
  datatype: "FP32",
  shape: [values.length, 1],
  content: Float32Array.from(values),
});
const valuesOf = (tensors: readonly Tensor[] = []) =>
  tensors.flatMap(({ content }) => (isByteList(content) ? [] : Array.from(content, Number)));

function start(options: Partial<SchedulerOptions> = {}, count = 1) {
  const { clock, advance, calls } = testClock();
  const runners = Array.from({ length: count }, testRunner);
  const warnings: string[] = [];
  const scheduler = createScheduler(
    runners.map(({ runner }) => runner),
    {
      ...{ queue: 2, maxBatch: 1, batchDelay: 0, clock },
      reopen: async () => testRunner().runner,
      onWarning: (message) => warnings.push(message),
      ...options,
    },
  );
  const run = (inputs: readonly Tensor[], more: Pick<Job, "bytes" | "timeout" | "signal"> = {}) => {
    const outcome: { values?: readonly number[]; kind?: string; together?: number } = {};
    scheduler.run(scheduler.enter(), { inputs, ...more }).then(
      ({ outputs, together }) => Object.assign(outcome, { values: valuesOf(outputs), together }),
      (error: RequestError) => Object.assign(outcome, { kind: error.kind }),
    );
    return outcome;
  };
  const [first] = runners;
  if (first === undefined) throw new Error("there is no runner");
  return { scheduler, runners, first, run, advance, calls, warnings };
}

describe("places", () => {
  it("are as many as runners and the queue have; one that is left is free again", async () => {
    const { scheduler, run, first } = start();
    run([tensor(1)]);
    run([tensor(2)]);
    const third = scheduler.enter();
    expect(() => scheduler.enter()).toThrow(RequestError);
    expect(scheduler.activity).toEqual({ placed: 3, waiting: 1, running: 1 });
    third.leave();
    third.leave();
    scheduler.enter();
    await first.runs[0]?.end();
    expect(scheduler.activity).toEqual({ placed: 2, waiting: 0, running: 1 });
  });

  it("those without one are told when to try again, by how long requests have taken", async () => {
    const { scheduler, run, first, advance } = start({ queue: 1 });
    const retryAfter = () => {
      try {
        scheduler.enter();
        return undefined;
      } catch (error) {
        return error instanceof RequestError ? [error.kind, error.retryAfter] : error;
      }
    };
    run([tensor(1)]);
    run([tensor(2)]);
    expect(retryAfter()).toEqual(["busy", 1]);
    await advance(2500);
    await first.runs[0]?.end();
    run([tensor(3)]);
    expect(retryAfter()).toEqual(["busy", 5]);
  });
});

describe("requests of several sizes", () => {
  it("that are small do not wait for all large ones before them", async () => {
    const { run, first } = start({ queue: 10 });
    const sizes = [2 ** 22, 2 ** 22, 2 ** 22, 10, 10];
    for (const [place, bytes] of sizes.entries()) run([tensor(place)], { bytes });
    const order: number[] = [];
    for (const _ of sizes) {
      order.push(...valuesOf(first.runs.at(-1)?.inputs));
      await first.runs.at(-1)?.end();
    }
    expect(order).toEqual([0, 3, 4, 1, 2]);
  });

  it("join a batch of the one whose turn it is", async () => {
    const { run, first } = start({ queue: 10, maxBatch: 2 });
    run([tensor(0)]);
    for (const [value, bytes] of [
      [1, 2 ** 22],
      [2, 2 ** 22],
      [3, 10],
    ] as const) {
      run([tensor(value)], { bytes });
    }
    await first.runs[0]?.end();
    expect(valuesOf(first.runs[1]?.inputs)).toEqual([1, 2]);
    await first.runs[1]?.end();
    expect(valuesOf(first.runs[2]?.inputs)).toEqual([3]);
  });
});

describe("limits of time", () => {
  it("a request that waits too long never computes; one that computes is told its limit", async () => {
    const { run, first, advance, calls } = start();
    const computing = run([tensor(1)], { timeout: 100 });
    const waiting = run([tensor(2)], { timeout: 50 });
    expect(first.runs[0]?.limits.timeout).toBe(100);
    await advance(50);
    expect(waiting).toEqual({ kind: "late" });
    await first.runs[0]?.end();
    expect(computing).toEqual({ values: [1], together: 1 });
    expect(first.runs).toHaveLength(1);
    expect(calls.size).toBe(0);
  });

  it("a request whose time is over is answered although its run goes on; the runner is taken when it ends", async () => {
    const { run, first, advance } = start();
    const late = run([tensor(1)], { timeout: 10 });
    const next = run([tensor(2)]);
    await advance(10);
    expect([late.kind, first.runs.length]).toEqual(["late", 1]);
    await first.runs[0]?.end();
    await first.runs[1]?.end();
    expect(next.values).toEqual([2]);
  });

  it("a request whose client has gone leaves", async () => {
    const { run, scheduler, first } = start();
    const gone = new AbortController();
    run([tensor(1)]);
    const waiting = run([tensor(2)], { signal: gone.signal });
    gone.abort();
    await turns();
    expect([waiting.kind, scheduler.activity.placed]).toEqual(["cancelled", 1]);
    expect(run([tensor(3)], { signal: gone.signal })).toEqual({});
    await turns();
    await first.runs[0]?.end();
    expect(first.runs).toHaveLength(1);
  });
});

describe("a run whose requests are all given up", () => {
  it("is told to end when its client has gone; its runner computes the next when it has ended", async () => {
    const { run, first } = start();
    const gone = new AbortController();
    const left = run([tensor(1)], { signal: gone.signal });
    const next = run([tensor(2)]);
    expect(first.runs[0]?.limits.signal?.aborted).toBe(false);
    gone.abort();
    await turns();
    expect([left.kind, first.runs[0]?.limits.signal?.aborted, first.runs.length]).toEqual(["cancelled", true, 1]);
    await first.runs[0]?.end();
    await first.runs[1]?.end();
    expect([next.values, first.runs[1]?.limits.signal?.aborted]).toEqual([[2], false]);
  });

  it("is told to end when its time is over", async () => {
    const { run, first, advance } = start();
    run([tensor(1)], { timeout: 10 });
    await advance(9);
    expect(first.runs[0]?.limits.signal?.aborted).toBe(false);
    await advance(1);
    expect(first.runs[0]?.limits.signal?.aborted).toBe(true);
  });

  it("of a batch is told only when all its requests are given up, whatever for", async () => {
    const { run, first, advance } = start({ maxBatch: 3, batchDelay: 5, queue: 9 });
    const [one, other] = [new AbortController(), new AbortController()];
    const left = [
      run([tensor(1)], { signal: one.signal }),
      run([tensor(2)], { signal: other.signal }),
      run([tensor(3)], { timeout: 10 }),
    ];
    const isAborted = () => first.runs[0]?.limits.signal?.aborted;
    one.abort();
    await advance(10);
    expect([left.map(({ kind }) => kind), isAborted()]).toEqual([["cancelled", undefined, "late"], false]);
    other.abort();
    await turns();
    expect(isAborted()).toBe(true);
    await first.runs[0]?.end();
    // None of them computes again, alone.
    expect(first.runs).toHaveLength(1);
    const next = run([tensor(4, 5, 6)]);
    await first.runs[1]?.end();
    expect(next.values).toEqual([4, 5, 6]);
  });

  it("is not told to end if it has ended", async () => {
    const { run, first } = start();
    const gone = new AbortController();
    const done = run([tensor(1)], { signal: gone.signal });
    await first.runs[0]?.end();
    gone.abort();
    expect([done.values, first.runs[0]?.limits.signal?.aborted]).toEqual([[1], false]);
  });
});

describe("batches", () => {
  it("join requests up to a number of rows, and divide the results", async () => {
    const { run, first } = start({ maxBatch: 4, queue: 9 });
    const alone = run([tensor(0)]);
    const joined = [run([tensor(1, 2)]), run([tensor(3)]), run([tensor(4, 5)]), run([tensor(6)])];
    await first.runs[0]?.end();
    expect(alone).toEqual({ values: [0], together: 1 });
    expect(valuesOf(first.runs[1]?.inputs)).toEqual([1, 2, 3]);
    await first.runs[1]?.end();
    await first.runs[2]?.end();
    expect(joined).toEqual([
      { values: [1, 2], together: 2 },
      { values: [3], together: 2 },
      { values: [4, 5], together: 2 },
      { values: [6], together: 2 },
    ]);
  });

  it("wait for others, until they are full or their time is over", async () => {
    const { run, first, advance } = start({ maxBatch: 2, batchDelay: 5, queue: 9 });
    run([tensor(1)]);
    expect(first.runs).toHaveLength(0);
    run([tensor(2)]);
    expect(valuesOf(first.runs[0]?.inputs)).toEqual([1, 2]);
    await first.runs[0]?.end();
    run([tensor(3)]);
    await advance(4);
    expect(first.runs).toHaveLength(1);
    await advance(1);
    expect(valuesOf(first.runs[1]?.inputs)).toEqual([3]);
  });

  it("join only requests of one shape", async () => {
    const { run, first } = start({ maxBatch: 8, queue: 9 });
    run([tensor(0)]);
    run([tensor(1)]);
    run([{ ...tensor(2, 3), shape: [1, 2] }]);
    run([tensor(4)]);
    await first.runs[0]?.end();
    expect(valuesOf(first.runs[1]?.inputs)).toEqual([1, 4]);
    await first.runs[1]?.end();
    expect(valuesOf(first.runs[2]?.inputs)).toEqual([2, 3]);
  });

  it("a request of more rows than a batch computes alone", async () => {
    const { run, first } = start({ maxBatch: 2, batchDelay: 5 });
    run([tensor(1, 2, 3)]);
    expect(valuesOf(first.runs[0]?.inputs)).toEqual([1, 2, 3]);
  });

  it("are given up if an output has other rows; all requests are answered", async () => {
    const { run, first, warnings } = start({ maxBatch: 2, batchDelay: 5 });
    const outcomes = [run([tensor(1)]), run([tensor(2)])];
    await first.runs[0]?.end([tensor(9)]);
    await first.runs[1]?.end();
    await first.runs[2]?.end();
    expect(outcomes.map(({ values }) => values)).toEqual([[1], [2]]);
    expect(warnings).toEqual([expect.stringContaining("has not as many rows")]);
    run([tensor(3)]);
    expect(first.runs).toHaveLength(4);
  });

  it("are told the last of their limits", async () => {
    const { run, first } = start({ maxBatch: 2, batchDelay: 5, queue: 9 });
    run([tensor(1)], { timeout: 10 });
    run([tensor(2)], { timeout: 30 });
    expect(first.runs[0]?.limits.timeout).toBe(30);
    await first.runs[0]?.end();
    run([tensor(1)], { timeout: 10 });
    run([tensor(2)]);
    expect(first.runs[1]?.limits.timeout).toBeUndefined();
  });
});

describe("a runner that fails", () => {
  it("goes on if it lives", async () => {
    const { run, first } = start();
    const failing = run([tensor(1)]);
    const next = run([tensor(2)]);
    await first.runs[0]?.fail(new RequestError("failed", "it broke"));
    expect(failing.kind).toBe("failed");
    await first.runs[1]?.end();
    expect(next.values).toEqual([2]);
  });

  it("computes the requests of a batch apart, so that one that is wrong spoils no other", async () => {
    const { run, first } = start({ maxBatch: 2, batchDelay: 5 });
    const outcomes = [run([tensor(1)]), run([tensor(2)])];
    await first.runs[0]?.fail(new RequestError("failed", "it broke"));
    await first.runs[1]?.fail(new RequestError("failed", "it broke"));
    await first.runs[2]?.end();
    expect(outcomes).toEqual([{ kind: "failed" }, { values: [2], together: 1 }]);
    run([tensor(3, 4)]);
    expect(first.runs).toHaveLength(4);
  });

  it("is replaced if a batch ends it, and computes each request of the batch alone: only the one to blame fails", async () => {
    const others = [testRunner(), testRunner()];
    let opened = 0;
    const reopen = async () => others[opened++]?.runner ?? testRunner().runner;
    const { run, first } = start({ maxBatch: 3, batchDelay: 5, reopen, queue: 9 });
    const outcomes = [run([tensor(1)]), run([tensor(2)]), run([tensor(3)])];
    const dies = new RequestError("failed", "the worker failed");
    first.state.alive = false;
    await first.runs[0]?.fail(dies);
    const [second, third] = others;
    if (second === undefined || third === undefined) throw new Error("there are no other runners");
    second.state.alive = false;
    await second.runs[0]?.fail(dies);
    await third.runs[0]?.end();
    await third.runs[1]?.end();
    expect(outcomes).toEqual([{ kind: "failed" }, { values: [2], together: 1 }, { values: [3], together: 1 }]);
    expect(opened).toBe(2);
  });

  it("is not replaced if the model closes meanwhile: what is being opened is closed", async () => {
    const other = testRunner();
    let open = (_: Runner) => {};
    const reopen = () =>
      new Promise<Runner>((resolve) => {
        open = resolve;
      });
    const { scheduler, run, first } = start({ reopen });
    first.state.alive = false;
    run([tensor(1)]);
    await first.runs[0]?.fail(new RequestError("failed", "the worker failed"));
    const closing = scheduler.close();
    await turns();
    open(other.runner);
    await closing;
    expect(other.state.closed).toBe(1);
  });

  it("is replaced if it is dead, as soon as that works", async () => {
    const other = testRunner();
    let tries = 0;
    const reopen = async () => {
      if (tries++ === 0) throw new Error("not yet");
      return other.runner;
    };
    const { run, first, advance, warnings } = start({ reopen });
    first.state.alive = false;
    const failing = run([tensor(1)]);
    await first.runs[0]?.fail(new RequestError("failed", "the worker failed"));
    expect([failing.kind, first.state.closed]).toEqual(["failed", 1]);
    expect(warnings).toEqual(["an instance that failed cannot be opened again: not yet"]);
    const next = run([tensor(2)]);
    await advance(100);
    await other.runs[0]?.end();
    expect(next.values).toEqual([2]);
  });
});

it("closing waits for requests, and takes no more", async () => {
  const { scheduler, run, first } = start();
  const last = run([tensor(1)]);
  let closed = false;
  void scheduler.close().then(() => {
    closed = true;
  });
  await turns();
  expect(closed).toBe(false);
  expect(() => scheduler.enter()).toThrow("is being unloaded");
  await first.runs[0]?.end();
  await turns();
  expect([closed, last.values, first.state.closed]).toEqual([true, [1], 1]);
});
