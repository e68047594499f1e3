import type { Executable, RunContext } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { manualClock } from "@nnhal/test-kit/clock";
import {
  ErrorStatus,
  type FencedExecuteOptions,
  type FenceState,
  MeasureTiming,
  type PreparedModel,
  type SyncFence,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import {
  bufferFor,
  floats,
  floatsIn,
  prepareOn,
  referenceDevice,
  reluModel,
  requestFor,
} from "../domains/relu-model.test-helper.ts";
import { createFence } from "../fence/fence.ts";
import { allocateMemory } from "../memory/memory.ts";
import { openDevice } from "./device.ts";
import { absModel, absRequest, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;
const sufficient = [{ dimensions: [2], isSufficient: true }];

type Fenced = PreparedModel & Required<Pick<PreparedModel, "executeFenced">>;

function withFences(model: PreparedModel): Fenced {
  if (!hasFences(model)) throw new Error("the model has no executeFenced");
  return model;
}

function hasFences(model: PreparedModel): model is Fenced {
  return model.executeFenced !== undefined;
}

/** A prepared model over an executable that runs as given, on a clock that the test sets. */
async function prepare(run: Executable["run"] = succeeding.run) {
  const clock = manualClock();
  const { now, timer } = clock;
  const device = await fakeDevice({ compile: async () => ({ run, close() {} }) }, { now, timer });
  return { clock, model: withFences(await prepareOn(device, absModel)) };
}

/** Launches what can be launched. */
async function launchTask(
  model: Fenced,
  waitFor: readonly SyncFence[] = [],
  options: FencedExecuteOptions = {},
  request = absRequest().request,
) {
  const { status, message, syncFence, callback } = await model.executeFenced(request, waitFor, options);
  if (callback === null) throw new Error(`not launched: status ${status}: ${message}`);
  return { fence: syncFence, info: () => callback.getExecutionInfo() };
}

describe("executeFenced", () => {
  it("answers without a fence if the execution has succeeded already", async () => {
    // On a clock that stands still no turn of the event loop is too long, so that the execution ends in the first.
    const device = await openDevice({ backend: referenceBackend, now: () => 1n });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const model = withFences(await prepareOn(device, absModel));
    const { request, output } = absRequest([-1.5, 2]);
    const { fence, info } = await launchTask(model, [], {}, request);
    expect(fence).toBeNull();
    expect(output()).toEqual([1.5, 2]);
    expect(await info()).toEqual({ status: NONE, timingLaunched: notMeasured, timingFenced: notMeasured });
  });

  it("answers with a fence while the execution is under way", async () => {
    let finish = () => {};
    const { model } = await prepare(
      () =>
        new Promise((resolve) => {
          finish = () => resolve({ status: NONE, outputShapes: sufficient });
        }),
    );
    const { fence, info } = await launchTask(model);
    expect(fence?.state).toBe("ACTIVE");
    expect(await info()).toMatchObject({ status: GENERAL_FAILURE, timingLaunched: notMeasured });
    finish();
    expect(await fence?.wait()).toBe("SIGNALED");
    expect((await info()).status).toBe(NONE);
  });

  it("waits for every fence before it starts", async () => {
    let runs = 0;
    const { model } = await prepare((...args) => {
      runs++;
      return succeeding.run(...args);
    });
    const [a, b] = [createFence(), createFence()];
    const { fence } = await launchTask(model, [a.fence, b.fence]);
    b.signal();
    await new Promise(setImmediate);
    expect([runs, fence?.state]).toEqual([0, "ACTIVE"]);
    a.signal();
    expect([await fence?.wait(), runs]).toEqual(["SIGNALED", 1]);
  });

  it("hands its fence on to the next execution", async () => {
    const model = withFences(await prepareOn(await referenceDevice(), reluModel()));
    const [first, second, third] = [floats(1, -2, 3, -4, 5, -6), allocateMemory(24), allocateMemory(24)];
    const start = createFence();
    const one = await launchTask(model, [start.fence], {}, requestFor([first], [second]));
    if (one.fence === null) throw new Error("the execution has not waited");
    const two = await launchTask(model, [one.fence], {}, requestFor([second], [third]));
    start.signal();
    expect(await two.fence?.wait()).toBe("SIGNALED");
    expect([...floatsIn(third)]).toEqual([1, 0, 3, 0, 5, 0]);
  });

  it("finds in device memory what the execution before it leaves there", async () => {
    const device = await referenceDevice();
    const model = withFences(await prepareOn(device, reluModel()));
    const { token } = await bufferFor(device, model, [0], [0]);
    const start = createFence();
    const one = await launchTask(model, [start.fence], {}, requestFor([floats(1, -2, 3, -4, 5, -6)], [token]));
    if (one.fence === null) throw new Error("the execution has not waited");
    const result = allocateMemory(24);
    const two = await launchTask(model, [one.fence], {}, requestFor([token], [result]));
    start.signal();
    expect(await two.fence?.wait()).toBe("SIGNALED");
    expect([...floatsIn(result)]).toEqual([1, 0, 3, 0, 5, 0]);
  });

  it("finds no value in device memory if the execution before it failed", async () => {
    const device = await referenceDevice();
    const model = withFences(await prepareOn(device, reluModel()));
    const { buffer, token } = await bufferFor(device, model, [0], [0]);
    await buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), []);
    const start = createFence();
    const one = await launchTask(model, [start.fence], {}, requestFor([floats(1, 2, 3, 4, 5, 6)], [token]));
    start.fail();
    expect(await one.fence?.wait()).toBe("ERROR");
    const two = await model.executeFenced(requestFor([token], [allocateMemory(24)]), []);
    expect(two).toMatchObject({ status: GENERAL_FAILURE, syncFence: null, callback: null });
  });

  it("reports a failure by its fence, not by its answer", async () => {
    const failing = await prepare(() => ({ status: GENERAL_FAILURE, message: "on fire", outputShapes: [] }));
    const { fence, info } = await launchTask(failing.model);
    expect(fence?.state).toBe("ERROR");
    expect(await info()).toEqual({
      status: GENERAL_FAILURE,
      message: "on fire",
      timingLaunched: notMeasured,
      timingFenced: notMeasured,
    });
    const throwing = await launchTask((await prepare(() => Promise.reject(new Error("on fire")))).model);
    expect([throwing.fence?.state, (await throwing.info()).status]).toEqual(["ERROR", GENERAL_FAILURE]);
    const { OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
    const short = [{ dimensions: [2], isSufficient: false }];
    const small = await prepare(() => ({ status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: short }));
    expect((await (await launchTask(small.model)).info()).status).toBe(GENERAL_FAILURE);
  });

  it("fails with a fence that fails later, without running", async () => {
    let runs = 0;
    const { model } = await prepare((...args) => {
      runs++;
      return succeeding.run(...args);
    });
    const source = createFence();
    const { fence, info } = await launchTask(model, [source.fence]);
    source.fail();
    expect(await fence?.wait()).toBe("ERROR");
    expect([(await info()).status, runs]).toEqual([GENERAL_FAILURE, 0]);
  });

  it.each<[string, readonly (SyncFence | null)[]]>([
    ["a fence that is null", [null]],
    ["a fence in state ERROR", [inState("ERROR")]],
    ["a fence in state UNKNOWN", [inState("SIGNALED"), inState("UNKNOWN")]],
  ])("refuses %s", async (_what, waitFor) => {
    const { model } = await prepare();
    const result = await model.executeFenced(absRequest().request, waitFor);
    expect(result).toMatchObject({ status: INVALID_ARGUMENT, syncFence: null, callback: null });
    expect(result.message).toContain(`waitFor[${waitFor.length - 1}]: expected a fence`);
  });

  it("refuses a request that is not valid, and outputs whose dimensions are not known", async () => {
    const { model } = await prepare();
    const { request } = absRequest();
    const refused = { status: INVALID_ARGUMENT, syncFence: null, callback: null };
    expect(await model.executeFenced({ ...request, inputs: [] }, [])).toMatchObject(refused);
    expect(await model.executeFenced({ ...request, pools: [{ kind: "token", token: 9 }] }, [])).toMatchObject(refused);
    const open = withFences(await prepareOn(await referenceDevice(), reluModel({ dimensions: [0, 3] })));
    const place = { at: floats(1, 2, 3), dimensions: [1, 3] };
    expect(await open.executeFenced(requestFor([place], [allocateMemory(12)]), [])).toMatchObject(refused);
    expect((await open.executeFenced(requestFor([place], [{ ...place, at: allocateMemory(12) }]), [])).status).toBe(
      NONE,
    );
    model.close();
    expect(await model.executeFenced(request, [])).toMatchObject(refused);
  });

  it("fails if memory cannot be mapped", async () => {
    const { model } = await prepare();
    const { request } = absRequest();
    const handle = { kind: "fileDescriptor", fd: 9999, protection: 3, offset: 0 } as const;
    const result = await model.executeFenced(
      { ...request, pools: [{ kind: "memory", memory: { name: "mmap_fd", size: 16, handle } }] },
      [],
    );
    expect(result).toMatchObject({ status: GENERAL_FAILURE, syncFence: null, callback: null });
  });

  it("keeps the prepared model alive until it has ended", async () => {
    const events: string[] = [];
    const clock = manualClock();
    const device = await fakeDevice(
      {
        compile: async () => ({
          run(...args) {
            events.push("run");
            return succeeding.run(...args);
          },
          close: () => events.push("close"),
        }),
      },
      { now: clock.now, timer: clock.timer },
    );
    const model = withFences(await prepareOn(device, absModel));
    const source = createFence();
    const { fence } = await launchTask(model, [source.fence]);
    model.close();
    expect(events).toEqual([]);
    source.signal();
    await fence?.wait();
    await new Promise(setImmediate);
    expect(events).toEqual(["run", "close"]);
  });
});

describe("the time of a fenced execution", () => {
  it("ends at the deadline or the duration, whichever comes first; the duration starts with the last fence", async () => {
    const deadlines: (bigint | undefined)[] = [];
    const { clock, model } = await prepare((inputs, outputs, context: RunContext) => {
      deadlines.push(context.deadline);
      return succeeding.run(inputs, outputs, context);
    });
    for (const options of [{}, { deadline: 1_000n }, { duration: 50n }, { deadline: 1_000n, duration: 50n }]) {
      const source = createFence();
      const { fence } = await launchTask(model, [source.fence], options);
      clock.advance(100n);
      source.signal();
      await fence?.wait();
    }
    const source = createFence();
    const { fence } = await launchTask(model, [source.fence], { deadline: 530n, duration: 50n });
    clock.advance(100n);
    source.signal();
    await fence?.wait();
    expect(deadlines).toEqual([undefined, 1_000n, 350n, 450n, 530n]);
  });

  it("is over if the deadline passes before the fences are signalled, or had passed at launch", async () => {
    const { clock, model } = await prepare();
    const source = createFence();
    const { fence, info } = await launchTask(model, [source.fence], { deadline: 100n });
    clock.advance(99n);
    await new Promise(setImmediate);
    expect(fence?.state).toBe("ACTIVE");
    clock.advance(1n);
    expect(await fence?.wait()).toBe("ERROR");
    expect((await info()).status).toBe(MISSED_DEADLINE_PERSISTENT);
    expect(clock.waiting).toBe(0);
    expect(await model.executeFenced(absRequest().request, [], { deadline: 100n })).toMatchObject({
      status: MISSED_DEADLINE_PERSISTENT,
      syncFence: null,
      callback: null,
    });
  });

  it("is measured from the launch and from the last fence, in microseconds", async () => {
    const { clock, model } = await prepare(() => {
      clock.advance(5_000n);
      return { status: NONE, outputShapes: sufficient, timeOnDevice: 4_000n };
    });
    const source = createFence();
    const { fence, info } = await launchTask(model, [source.fence], { measure: MeasureTiming.YES });
    clock.advance(20_000n);
    source.signal();
    await fence?.wait();
    expect(await info()).toEqual({
      status: NONE,
      timingLaunched: { timeOnDevice: 4n, timeInDriver: 25n },
      timingFenced: { timeOnDevice: 4n, timeInDriver: 5n },
    });
  });
});

function inState(state: FenceState): SyncFence {
  return { state, wait: async () => state };
}
