/**
 * Many callers at once: every answer comes exactly once, belongs to its caller, and leaves nothing behind.
 */

import { isDeepStrictEqual } from "node:util";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import { collectGarbage } from "@nnhal/test-kit/garbage";
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  MeasureTiming,
  type Model,
  type PreparedModel,
  Priority,
  type V1_3,
} from "@nnhal/types";
import { makeTimePoint } from "@nnhal/utils";
import { steadyClock } from "@nnhal/utils/time";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { floats, floatsIn, prepareOn, reluModel, requestFor } from "../domains/relu-model.test-helper.ts";
import { allocateMemory } from "../memory/memory.ts";
import { asV1_3 } from "../versions/device-face.ts";
import { openDevice } from "./device.ts";

const { NONE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const callers = 64;
const executions = 10_000;
/** Executions of each caller before memory is measured. */
const warmUp = 80;

/** The reference backend, but that each run lets others in between now and then. */
async function busyDevice(): Promise<Device> {
  const device = await openDevice({
    backend: {
      ...referenceBackend,
      async open() {
        const session = await referenceBackend.open();
        if ("unavailable" in session) return session;
        let runs = 0;
        return {
          ...session,
          async compile(graph, options) {
            const executable = await session.compile(graph, options);
            return {
              ...executable,
              async run(inputs, outputs, context) {
                if (runs++ % 7 === 0) await new Promise(setImmediate);
                return executable.run(inputs, outputs, context);
              },
            };
          },
        };
      },
    },
  });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

function usedMemory(): number {
  for (let turn = 0; turn < 3; turn++) collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A way to execute on one prepared model. */
type Execute = PreparedModel["execute"];

/** Number of callbacks by how often each was called. */
type Calls = Map<number, number>;

/** Prepares a model on a device, and returns a function that executes it. */
type Prepare = (device: Device, model: Model, priority: Priority, calls: Calls) => Promise<Execute>;

/** Executions are calls that answer. */
const makeAnswering: Prepare = async (device, model, priority) => {
  const { preparedModel } = await device.prepareModel(model, { priority });
  if (preparedModel === null) throw new Error("not prepared");
  return preparedModel.execute;
};

/** Executions are launched, as HAL 1.3 does it, and end in a callback. */
const makeLaunching: Prepare = async (device, model, priority, calls) => {
  const driver = asV1_3(device);
  const none = { kind: "none" } as const;
  const { FAST_SINGLE_ANSWER } = ExecutionPreference;
  const preparedModel = await new Promise<V1_3.IPreparedModel | null>((resolve) => {
    const callback = {
      ...deaf,
      notify_1_3: (_: ErrorStatus, prepared: V1_3.IPreparedModel | null) => resolve(prepared),
    };
    driver.prepareModel_1_3(model, FAST_SINGLE_ANSWER, priority, none, [], [], new Uint8Array(32), callback);
  });
  if (preparedModel === null) throw new Error("not prepared");
  return (request, { deadline } = {}) =>
    new Promise((resolve) => {
      let told = 0;
      const notify_1_3: V1_3.IExecutionCallback["notify_1_3"] = (status, outputShapes, timing) => {
        calls.set(told, (calls.get(told) ?? 0) - 1);
        told++;
        calls.set(told, (calls.get(told) ?? 0) + 1);
        resolve({ status, outputShapes, timing });
      };
      calls.set(told, (calls.get(told) ?? 0) + 1);
      preparedModel.execute_1_3(request, MeasureTiming.NO, makeTimePoint(deadline), none, { ...deaf, notify_1_3 });
    });
};

const findUnexpected = () => {
  throw new Error("a callback of another version was called");
};
const deaf = { notify: findUnexpected, notify_1_2: findUnexpected };

/** One caller's executions, one after the other; gives how often each status came. */
async function call(
  caller: number,
  models: readonly Execute[],
  count: number,
  draw: () => number,
): Promise<Map<ErrorStatus, number>> {
  const seen = new Map<ErrorStatus, number>();
  for (let turn = 0; turn < count; turn++) {
    const rows = 1 + Math.floor(draw() * 8);
    const input = Array.from({ length: 3 * rows }, (_, index) => caller * 1000 + turn + index / 64);
    const output = allocateMemory(12 * rows);
    const place = { at: floats(...input), dimensions: [rows, 3] };
    // A third has a deadline that has passed, may pass, or will not.
    const deadline = [
      undefined,
      undefined,
      undefined,
      steadyClock(),
      steadyClock() + 50_000n,
      steadyClock() + 10n ** 12n,
    ];
    const chosen = deadline[Math.floor(draw() * deadline.length)];
    const execute = elementAt(models, Math.floor(draw() * models.length));
    const result = await execute(requestFor([place], [output]), chosen === undefined ? {} : { deadline: chosen });
    seen.set(result.status, (seen.get(result.status) ?? 0) + 1);
    const { status, outputShapes } = result;
    const actual = { outputShapes, values: status === NONE ? [...floatsIn(output)] : [] };
    const own = { outputShapes: [{ dimensions: [rows, 3], isSufficient: true }], values: input };
    const expected = status === NONE ? own : { outputShapes: [], values: [] };
    // Only differences are asserted: an assertion takes more time than an execution.
    if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
  }
  return seen;
}

// Far more than they take, on a machine that is busy with other tests too.
const timeout = 300_000;

describe("10,000 executions from 64 callers", { timeout }, () => {
  it.each<[string, Prepare]>([
    ["called", makeAnswering],
    ["launched", makeLaunching],
  ])("%s, are each answered once, with their own result, and leave no memory behind", async (_way, prepare) => {
    const device = await busyDevice();
    const calls: Calls = new Map();
    const models: Execute[] = [];
    for (const priority of [Priority.LOW, Priority.MEDIUM, Priority.HIGH]) {
      models.push(await prepare(device, reluModel({ dimensions: [0, 3] }), priority, calls));
    }
    let state = elementAt(fc.sample(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { numRuns: 1, seed: 42 }), 0);
    const draw = () => {
      state = (state * 48_271) % 0x7fff_ffff;
      return state / 0x7fff_ffff;
    };
    const round = (count: number) =>
      Promise.all(Array.from({ length: callers }, (_, caller) => call(caller, models, count, draw)));

    // At first, code grows, and lists that reach their size.
    await round(warmUp);
    const before = usedMemory();
    const perCaller = Math.ceil(executions / callers);
    const counts = new Map<ErrorStatus, number>();
    for (const seen of await round(perCaller)) {
      for (const [status, count] of seen) counts.set(status, (counts.get(status) ?? 0) + count);
    }
    const after = usedMemory();

    expect([...counts.values()].reduce((sum, count) => sum + count)).toBe(perCaller * callers);
    expect(counts.get(NONE)).toBeGreaterThan(executions / 2);
    expect(counts.get(MISSED_DEADLINE_PERSISTENT)).toBeGreaterThan(executions / 20);
    for (const status of counts.keys()) {
      expect([NONE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT]).toContain(status);
    }
    // Each execution brought about 200 bytes of data and several objects; a leak of 100 bytes each would be 1 MB.
    expect(after - before).toBeLessThan(1_000_000);
    const others = [...calls].filter(([times, count]) => times !== 1 && count !== 0);
    expect(others, "callbacks that were called so many times, not once").toEqual([]);
    if (prepare === makeLaunching) expect(calls.get(1)).toBe((perCaller + warmUp) * callers);
  });

  it("end, including waiting ones, if the prepared model is closed meanwhile", async () => {
    const device = await busyDevice();
    const model = await prepareOn(device, reluModel());
    const outputs = Array.from({ length: callers }, () => allocateMemory(24));
    const running = outputs.map((output) => model.execute(requestFor([floats(1, 2, 3, 4, 5, 6)], [output])));
    model.close();
    const results = await Promise.all(running);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([NONE]));
    for (const output of outputs) expect([...floatsIn(output)]).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe("several clients, priorities and deadlines at once", { timeout }, () => {
  it("a client that never stops starves neither other clients nor the event loop", async () => {
    const device = await openDevice({ backend: referenceBackend, concurrency: 1, limits: { waitingPerClient: 64 } });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const greedy = await device.prepareModel(reluModel(), { priority: Priority.HIGH });
    const modest = await device.connect().prepareModel(reluModel(), { priority: Priority.LOW });
    const request = () => requestFor([floats(1, 2, 3, 4, 5, 6)], [allocateMemory(24)]);
    let isOver = false;
    let turns = 0;
    const counts = new Map<string, number>();
    const note = (who: string, { status }: { readonly status: ErrorStatus }) => {
      const key = `${who} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    // As many as the device takes, and more: a refused one comes again at once.
    let ended = 0;
    const loops = Array.from({ length: 100 }, async (_, index) => {
      // An end, so that a device that lets no other client run fails the test instead of keeping it for ever. A refusal and a
      // missed deadline count less than an execution: they take no turn.
      for (let effort = 0; effort < 4000 && !isOver; ) {
        const deadline = index % 3 === 0 ? { deadline: steadyClock() + 10_000_000n } : {};
        const result = (await greedy.preparedModel?.execute(request(), deadline)) ?? { status: NONE };
        note("greedy", result);
        effort += result.status === NONE ? 1 : 0.02;
      }
      ended++;
    });
    const turning = (async () => {
      while (!isOver) {
        await new Promise(setImmediate);
        turns++;
      }
    })();
    for (let execution = 0; execution < 50; execution++) {
      note("modest", (await modest.preparedModel?.execute(request())) ?? { status: NONE });
    }
    // The event loop has turned meanwhile and timers go off, though everything is answered without waiting for anything.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect([turns > 0, ended]).toEqual([true, 0]);
    isOver = true;
    await Promise.all([...loops, turning]);
    expect(counts.get(`modest ${NONE}`)).toBe(50);
    expect(counts.get(`greedy ${NONE}`)).toBeGreaterThan(50);
    expect(counts.get(`greedy ${ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT}`)).toBeGreaterThan(0);
    const possible = [
      NONE,
      ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT,
      MISSED_DEADLINE_PERSISTENT,
      MISSED_DEADLINE_TRANSIENT,
    ];
    for (const key of counts.keys()) expect(possible.map(String)).toContain(key.split(" ")[1]);
    await device.close();
  });
});
