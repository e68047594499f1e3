/**
 * Models over several devices, and models that may fall back, behind fences and in bursts.
 */
import { createBurst } from "@nnhal/driver-core/burst";
import { createFence } from "@nnhal/driver-core/fence";
import { androidPolicy, askAndPlan } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import {
  type Device,
  ErrorStatus,
  MeasureTiming,
  type PreparedModel,
  type SyncFence,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { guardDevice } from "../guard/device.ts";
import { numbersAt, openReference } from "../models.test-helper.ts";
import type { DivideOptions } from "./divide.ts";
import { bridge, chain, divideGuarded, makeFailing, requestOf } from "./divided.test-helper.ts";
import { makeTaking, openMemoryDevice } from "./memory-backend.test-helper.ts";
import { plannedModel } from "./planned-model.ts";
import { preparePlan } from "./prepare.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

let reference: Device;
beforeEach(async () => {
  reference = await openReference();
});

const several = (): [Device, Device] => [
  { ...makeTaking(reference, ["FLOOR", "NEG"]), name: "a" },
  { ...makeTaking(reference, ["ABS"]), name: "b" },
];

async function prepareParts(devices: readonly Device[], options: DivideOptions = {}): Promise<PreparedModel> {
  const divided = await divideGuarded(chain().hal, devices, options);
  if (!("plan" in divided)) throw new Error(divided.message);
  return divided.preparedModel;
}

/** A request, and the numbers at its output. */
function request(values: readonly number[] = [-1.5, 2.5]) {
  const made = requestOf(values, { room: 2 });
  return { request: made, result: () => [...numbersAt(made, 1, 2)] };
}

function executeFenced(model: PreparedModel, ...rest: Parameters<Required<PreparedModel>["executeFenced"]>) {
  if (model.executeFenced === undefined) throw new Error("there are no fenced executions");
  return model.executeFenced(...rest);
}

describe.each([
  ["several devices", (): [Device[], DivideOptions] => [several(), {}]],
  [
    "one device with the CPU behind it",
    (): [Device[], DivideOptions] => [[{ ...reference, name: "first" }, reference], { cpu: reference, partition: 1 }],
  ],
])("executeFenced over %s", (_what, setUp) => {
  let model: PreparedModel;
  beforeEach(async () => {
    model = await prepareParts(...setUp());
  });

  it("answers at once, runs after the fences, and reports the result", async () => {
    const { request: made, result } = request();
    const gates = [createFence(), createFence()] as const;
    const fences = gates.map(({ fence }) => fence);
    const answer = await executeFenced(model, made, fences, { measure: MeasureTiming.YES });
    expect([answer.status, answer.syncFence?.state]).toEqual([NONE, "ACTIVE"]);
    expect(await answer.callback?.getExecutionInfo()).toMatchObject({ status: GENERAL_FAILURE });
    gates[0].signal();
    await new Promise(setImmediate);
    expect([answer.syncFence?.state, result()]).toEqual(["ACTIVE", [0, 0]]);
    gates[1].signal();
    expect(await answer.syncFence?.wait()).toBe("SIGNALED");
    expect(result()).toEqual([-2, -2]);
    const info = await answer.callback?.getExecutionInfo();
    if (info === undefined) throw new Error("there is no callback");
    expect(info.status).toBe(NONE);
    const { timingLaunched, timingFenced } = info;
    expect(timingFenced.timeInDriver).toBeLessThanOrEqual(timingLaunched.timeInDriver);
  });

  it("measures nothing unless asked", async () => {
    const answer = await executeFenced(model, request().request, []);
    await answer.syncFence?.wait();
    const none = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
    expect(await answer.callback?.getExecutionInfo()).toEqual({
      status: NONE,
      timingLaunched: none,
      timingFenced: none,
    });
  });

  it("fails if a fence that it waits for fails", async () => {
    const { request: made, result } = request();
    const gate = createFence();
    const answer = await executeFenced(model, made, [gate.fence]);
    gate.fail();
    expect(await answer.syncFence?.wait()).toBe("ERROR");
    expect(await answer.callback?.getExecutionInfo()).toMatchObject({
      status: GENERAL_FAILURE,
      message: "a fence waited for failed",
    });
    expect(result()).toEqual([0, 0]);
  });

  it("uses the model while it waits: closing takes effect afterwards", async () => {
    const { request: made, result } = request();
    const gate = createFence();
    const answer = await executeFenced(model, made, [gate.fence]);
    model.close();
    expect((await model.execute(made)).status).toBe(INVALID_ARGUMENT);
    gate.signal();
    expect(await answer.syncFence?.wait()).toBe("SIGNALED");
    expect(result()).toEqual([-2, -2]);
  });

  it("refuses wrong arguments at once", async () => {
    const { request: made } = request();
    const failed = createFence();
    failed.fail();
    const unspecified = { ...made, outputs: [{ ...elementAt(made.outputs, 0), dimensions: [0] }] };
    const wrong: [string, Promise<unknown>, ErrorStatus][] = [
      ["a null fence", executeFenced(model, made, [null]), INVALID_ARGUMENT],
      ["a fence that failed", executeFenced(model, made, [failed.fence]), INVALID_ARGUMENT],
      ["an output of unknown size", executeFenced(model, unspecified, []), INVALID_ARGUMENT],
      ["a deadline that has passed", executeFenced(model, made, [], { deadline: 1n }), MISSED_DEADLINE_PERSISTENT],
    ];
    for (const [what, answer, status] of wrong) {
      expect(await answer, what).toMatchObject({ status, syncFence: null, callback: null });
    }
    model.close();
    expect(await executeFenced(model, made, [])).toMatchObject({ status: INVALID_ARGUMENT });
  });

  it("does not wait beyond the deadline", async () => {
    const never: SyncFence = { state: "ACTIVE", wait: () => new Promise(() => {}) };
    const deadline = process.hrtime.bigint() + 200_000_000n;
    const answer = await executeFenced(model, request().request, [never], { deadline });
    expect(await answer.syncFence?.wait()).toBe("ERROR");
    expect(await answer.callback?.getExecutionInfo()).toMatchObject({ status: MISSED_DEADLINE_PERSISTENT });
  });
});

describe("a fenced execution that fails", () => {
  it("falls back if that is allowed", async () => {
    const [a, b] = several();
    const told: string[] = [];
    const options: DivideOptions = { cpu: reference, onFallback: (message) => told.push(message) };
    const model = await prepareParts([a, makeFailing(b, "execute"), reference], options);
    const { request: made, result } = request();
    const answer = await executeFenced(model, made, []);
    expect(await answer.syncFence?.wait()).toBe("SIGNALED");
    expect(result()).toEqual([-2, -2]);
    expect(told).toEqual(["the step of operations 2 runs again on nnhal-reference"]);
  });

  it("puts its fence in state ERROR if fallback is not allowed", async () => {
    const [a, b] = several();
    const model = await prepareParts([a, makeFailing(b, "execute")]);
    const answer = await executeFenced(model, request().request, []);
    expect(await answer.syncFence?.wait()).toBe("ERROR");
    expect(await answer.callback?.getExecutionInfo()).toMatchObject({ status: GENERAL_FAILURE, message: "broken" });
  });
});

describe("a burst over several devices", () => {
  const burstOf = ({ configureExecutionBurst: configure }: PreparedModel) => {
    if (configure === undefined) throw new Error("there are no bursts");
    return createBurst(configure);
  };

  it("executes one request after the other", async () => {
    const model = await prepareParts(several());
    const { burst, message } = await burstOf(model);
    if (burst === null) throw new Error(message);
    for (const values of [
      [-1.5, 2.5],
      [7, -8],
    ]) {
      const { request: made, result } = request(values);
      const { status, fallback } = await burst.compute(made);
      expect([status, fallback, result()]).toEqual([NONE, false, values.map((value) => -Math.abs(Math.floor(value)))]);
    }
    await burst.close();
  });

  it("is refused for a closed model", async () => {
    const model = await prepareParts(several());
    model.close();
    expect(await burstOf(model)).toMatchObject({ status: INVALID_ARGUMENT, burst: null });
  });
});

describe("the memory between steps", () => {
  it("is freed after an idle time, and allocated again", async () => {
    const { device, calls } = await openMemoryDevice("npu", ["FLOOR", "NEG", "MAXIMUM"]);
    const planned = await askAndPlan(bridge().hal, [device, { ...makeTaking(reference, ["ABS"]), name: "cpu" }], {
      policy: androidPolicy,
    });
    if ("unplannable" in planned) throw new Error(planned.message);
    const devices = [device, reference].map(guardDevice);
    const preparers = devices.map((one) => ({ device: one, prepare: one.prepareModel }));
    const ready = await preparePlan(planned, preparers, {}, silentLogger);
    if ("status" in ready) throw new Error(ready.message);
    const pending: (() => void)[] = [];
    const timer = (_time: bigint, callback: () => void) => {
      pending.push(callback);
      return () => {};
    };
    const model = plannedModel(ready, process.hrtime.bigint, { timer });
    const execute = async () => (await model.execute(request().request)).status;
    const pass = () => {
      for (const callback of pending.splice(0)) callback();
    };
    expect(await execute()).toBe(NONE);
    pass();
    // There was an execution since the watch began.
    expect(calls.filter((call) => call === "close")).toHaveLength(0);
    pass();
    expect(calls.filter((call) => call === "close")).toHaveLength(1);
    expect([await execute(), await execute()]).toEqual([NONE, NONE]);
    expect(calls.filter((call) => call === "allocate")).toHaveLength(2);
    model.close();
    expect(calls.filter((call) => call === "close")).toHaveLength(2);
  });
});

describe("a model that is whole on one device", () => {
  it("executes on the device alone if fallback is not allowed", async () => {
    const made: PreparedModel[] = [];
    let executions = 0;
    const watched: Device = {
      ...reference,
      async prepareModel(model, options) {
        const result = await reference.prepareModel(model, options);
        const { preparedModel } = result;
        if (preparedModel === null) return result;
        made.push(preparedModel);
        return {
          ...result,
          preparedModel: {
            ...preparedModel,
            execute(...args) {
              executions++;
              return preparedModel.execute(...args);
            },
          },
        };
      },
    };
    const whole = await prepareParts([watched]);
    const { request: asked, result } = request();
    expect(await whole.execute(asked)).toMatchObject({ status: NONE });
    expect(result()).toEqual([-2, -2]);
    expect([made.length, executions]).toEqual([1, 1]);
  });

  it("reports the device's times and its refusals", async () => {
    const model = await prepareParts([{ ...reference, name: "first" }, reference], { cpu: reference });
    const { timing } = await model.execute(request().request, { measure: MeasureTiming.YES });
    expect(timing.timeInDriver).not.toBe(TIMING_NOT_MEASURED);
    const { request: made } = request();
    const short = {
      ...made,
      outputs: [{ ...elementAt(made.outputs, 0), location: { poolIndex: 1, offset: 0, length: 4 } }],
    };
    expect(await model.execute(short)).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions: [2], isSufficient: false }],
    });
  });
});
