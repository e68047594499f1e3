/**
 * Many callers at once: every answer comes exactly once, belongs to its caller, and leaves nothing behind.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { referenceBackend } from "@nnhal/backend-reference";
import { type Device, ErrorStatus, type PreparedModel, Priority } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { floats, floatsIn, preparedOn, reluModel, requestFor } from "../domains/relu-model.test-helper.ts";
import { allocateMemory } from "../memory/memory.ts";
import { openDevice } from "./device.ts";
import { steadyClock } from "./steady-clock.ts";

const { NONE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const callers = 64;
const executions = 10_000;

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
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  for (let turn = 0; turn < 3; turn++) gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** One caller's executions, one after the other; gives how often each status came. */
async function call(
  caller: number,
  models: readonly PreparedModel[],
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
    const model = models[Math.floor(draw() * models.length)];
    const result = await model.execute(requestFor([place], [output]), chosen === undefined ? {} : { deadline: chosen });
    seen.set(result.status, (seen.get(result.status) ?? 0) + 1);
    if (result.status !== NONE) {
      expect(result.outputShapes).toEqual([]);
      continue;
    }
    expect(result.outputShapes).toEqual([{ dimensions: [rows, 3], isSufficient: true }]);
    expect([...floatsIn(output)]).toEqual([...Float32Array.from(input)]);
  }
  return seen;
}

describe("10,000 executions from 64 callers", () => {
  it("are each answered once, with their own result, and leave no memory behind", async () => {
    const device = await busyDevice();
    const models: PreparedModel[] = [];
    for (const priority of [Priority.LOW, Priority.MEDIUM, Priority.HIGH]) {
      const { preparedModel } = await device.prepareModel(reluModel({ dimensions: [0, 3] }), { priority });
      if (preparedModel === null) throw new Error("not prepared");
      models.push(preparedModel);
    }
    const [{ seed }] = fc.sample(fc.record({ seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }) }), {
      numRuns: 1,
      seed: 42,
    });
    let state = seed;
    const draw = () => {
      state = (state * 48_271) % 0x7fff_ffff;
      return state / 0x7fff_ffff;
    };
    const round = (count: number) =>
      Promise.all(Array.from({ length: callers }, (_, caller) => call(caller, models, count, draw)));

    await round(20);
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
  });

  it("end, those that wait among them, where the prepared model is closed meanwhile", async () => {
    const device = await busyDevice();
    const model = await preparedOn(device, reluModel());
    const outputs = Array.from({ length: callers }, () => allocateMemory(24));
    const running = outputs.map((output) => model.execute(requestFor([floats(1, 2, 3, 4, 5, 6)], [output])));
    model.close();
    const results = await Promise.all(running);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([NONE]));
    for (const output of outputs) expect([...floatsIn(output)]).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
