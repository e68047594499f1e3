/**
 * Calls that a device never answers end after their deadline and a grace period, or by the watchdog.
 */
import { createFence } from "@nnhal/driver-core/fence";
import { deadlineGrace } from "@nnhal/driver-core/guard";
import { manualClock } from "@nnhal/test-kit/clock";
import { type Device, ErrorStatus, type FencedResult } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation, type CompilationOptions } from "./compilation.ts";
import { Event } from "./event.ts";
import { Execution } from "./execution.ts";
import { code, gate, turn, withPrepared } from "./fakes.test-helper.ts";
import { faulty } from "./faults.test-helper.ts";
import { Memory } from "./memory.ts";
import { addModel, openReference } from "./models.test-helper.ts";
import { chain, requestOf } from "./plan/divided.test-helper.ts";
import { runtimeAsDevice } from "./runtime-as-device.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

async function makeExecuting(device: Device, options: CompilationOptions = {}) {
  const clock = manualClock();
  const compilation = new Compilation(addModel(), [device], { now: clock.now, timer: clock.timer, ...options });
  await compilation.finish();
  const execution = new Execution(compilation);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(10, 20));
  const memory = Memory.allocate(8);
  execution.setOutputFromMemory(0, memory);
  return { clock, compilation, execution, memory };
}

/** Returns whether a promise has settled by now. */
async function hasEnded(promise: Promise<unknown>): Promise<boolean> {
  let ended = false;
  const note = () => {
    ended = true;
  };
  promise.then(note, note);
  await turn();
  await turn();
  return ended;
}

describe("an execution that a device never ends", () => {
  it("ends after its timeout and a grace period, not before", async () => {
    const { clock, execution } = await makeExecuting(faulty(reference, "model", "execute", "sleeps"));
    execution.setTimeout(1000n);
    const computing = execution.compute();
    await turn();
    clock.advance(1000n + deadlineGrace - 1n);
    expect(await hasEnded(computing)).toBe(false);
    clock.advance(1n);
    await expect(computing).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    await expect(computing).rejects.toThrow("the device did not answer by its deadline");
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
  });

  it("ends by the watchdog if it has no timeout", async () => {
    const { clock, execution } = await makeExecuting(faulty(reference, "model", "execute", "sleeps"), {
      watchdog: 500n,
    });
    const event = execution.startCompute();
    await turn();
    clock.advance(499n);
    expect(await hasEnded(event.close().catch(() => {}))).toBe(false);
    clock.advance(1n);
    await event.close();
    expect(() => execution.getOutputOperandRank(0)).toThrow("the execution failed");
  });

  it("ends by the watchdog also if it falls back to a CPU", async () => {
    const { clock, execution } = await makeExecuting(faulty(reference, "model", "execute", "sleeps"), {
      watchdog: 500n,
      cpu: {
        ...reference,
        getSupportedOperations: () => ({ status: ErrorStatus.NONE, supported: [false], reasons: [] }),
      },
    });
    const computing = execution.compute();
    await turn();
    clock.advance(500n);
    await expect(computing).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
  });

  it("does not end if neither is set, and starts no timer", async () => {
    const { clock, execution } = await makeExecuting(faulty(reference, "model", "execute", "sleeps"));
    const computing = execution.compute();
    await turn();
    clock.advance(10n ** 18n);
    expect(await hasEnded(computing)).toBe(false);
    expect(clock.waiting).toBe(0);
  });

  it("keeps its memories until the device has answered after all", async () => {
    const { opened, open } = gate();
    const late = withPrepared(reference, (own) => ({
      execute: (...request) => opened.then(() => own.execute(...request)),
    }));
    const { clock, execution, memory } = await makeExecuting(late);
    let given = 0;
    const giveBack = memory.giveBack.bind(memory);
    memory.giveBack = () => {
      given++;
      giveBack();
    };
    execution.setTimeout(1000n);
    const computing = execution.compute();
    await turn();
    clock.advance(1000n + deadlineGrace);
    await expect(computing).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    expect(given).toBe(0);
    open();
    await turn();
    await turn();
    expect(given).toBe(1);
  });

  it("leaves no timer if the device is in time", async () => {
    // The reference device has another clock.
    const inTime = withPrepared(reference, (own) => ({ execute: (request) => own.execute(request) }));
    const { clock, execution } = await makeExecuting(inTime);
    execution.setTimeout(1000n);
    await execution.compute();
    expect(clock.waiting).toBe(0);
  });
});

describe("a fenced execution that a device never ends", () => {
  const never = new Promise<never>(() => {});
  const hanging = {
    "is never launched": () => never,
    "has a fence that is never signalled": async () => ({
      status: ErrorStatus.NONE,
      syncFence: { state: "ACTIVE", wait: () => never },
      callback: { getExecutionInfo: () => never },
    }),
    "has a callback that never answers": async () => ({
      status: ErrorStatus.NONE,
      syncFence: null,
      callback: { getExecutionInfo: () => never },
    }),
  } satisfies Readonly<Record<string, () => Promise<FencedResult>>>;

  it.each(Object.entries(hanging))("and that %s ends by its timeout", async (_name, executeFenced) => {
    const device = withPrepared(reference, () => ({ executeFenced }));
    const { clock, execution } = await makeExecuting(device);
    execution.setTimeout(1000n);
    const ending = execution.startComputeWithDependencies([]).then((event) => event.wait());
    expect(await hasEnded(ending)).toBe(false);
    clock.advance(1000n + deadlineGrace);
    await expect(ending).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    expect(clock.waiting).toBe(0);
  });

  it.each(Object.entries(hanging))(
    "and that %s ends by its duration, counted from its dependencies",
    async (_name, executeFenced) => {
      const device = withPrepared(reference, () => ({ executeFenced }));
      const { clock, execution } = await makeExecuting(device);
      const { fence, signal } = createFence();
      const ending = execution
        .startComputeWithDependencies([Event.createFromSyncFence(fence)], 1000n)
        .then((event) => event.wait());
      expect(await hasEnded(ending)).toBe(false);
      clock.advance(10n * deadlineGrace);
      expect(await hasEnded(ending)).toBe(false);
      signal();
      await turn();
      clock.advance(1000n + deadlineGrace);
      await expect(ending).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    },
  );

  it("fails its dependents", async () => {
    const device = withPrepared(reference, () => ({ executeFenced: hanging["has a fence that is never signalled"] }));
    const { clock, execution } = await makeExecuting(device);
    execution.setTimeout(1000n);
    const event = await execution.startComputeWithDependencies([]);
    const next = await makeExecuting(reference);
    const after = await next.execution.startComputeWithDependencies([event]);
    clock.advance(1000n + deadlineGrace);
    await expect(after.wait()).rejects.toThrow(code("OP_FAILED"));
  });
});

describe("a compilation that a device never ends", () => {
  it("ends by its timeout, or the watchdog, and frees a result that comes too late", async () => {
    for (const watchdog of [undefined, 1000n + deadlineGrace]) {
      const { opened, open } = gate();
      let closed = 0;
      const late: Device = {
        ...reference,
        async prepareModel(model) {
          await opened;
          const result = await reference.prepareModel(model);
          if (result.preparedModel === null) return result;
          return { ...result, preparedModel: { ...result.preparedModel, close: () => void closed++ } };
        },
      };
      const clock = manualClock();
      const { now, timer } = clock;
      const compilation = new Compilation(addModel(), [late], { now, timer, ...(watchdog && { watchdog }) });
      if (watchdog === undefined) compilation.setTimeout(1000n);
      const finishing = compilation.finish();
      await turn();
      clock.advance(1000n + deadlineGrace);
      await expect(finishing).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
      open();
      for (let turns = 0; closed === 0 && turns < 50; turns++) await turn();
      expect(closed).toBe(1);
    }
  });
});

describe("several devices as one", () => {
  it("end by the deadline, too", async () => {
    const clock = manualClock();
    const device = runtimeAsDevice([faulty(reference, "model", "execute", "sleeps")], {
      now: clock.now,
      timer: clock.timer,
    });
    const { preparedModel } = await device.prepareModel(chain().hal);
    const executing = preparedModel?.execute(requestOf([1, 2], { room: 2 }), { deadline: 1000n });
    await turn();
    clock.advance(1000n + deadlineGrace);
    expect(await executing).toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, outputShapes: [] });
  });
});
