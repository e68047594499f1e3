import { elementAt } from "@nnhal/operations";
import { floorModel } from "@nnhal/test-kit/models";
import {
  ErrorStatus,
  type ExecutionResult,
  MeasureTiming,
  type Memory,
  type Model,
  OperandLifeTime,
  type PreparedModel,
  type Request,
  type SyncFence,
  type V1_0,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import type { PreparedSource } from "./face-context.ts";
import { preparedModelV1_0, preparedModelV1_2, preparedModelV1_3 } from "./prepared-model-face.ts";
import { executionCallback, measured, model, oldRequestOf, requestOf, settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_PERSISTENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
const { NO, YES } = MeasureTiming;
const none = { kind: "none" } as const;
const shapes = [{ dimensions: [2], isSufficient: true }];
const insufficient = [{ dimensions: [2], isSufficient: false }];
const success: ExecutionResult = { status: NONE, outputShapes: shapes, timing: measured };

type Execute = PreparedModel["execute"];

/** A prepared model with one outcome. */
function makeEnding(result: Partial<ExecutionResult> = {}): PreparedModel {
  return { execute: async () => ({ ...success, ...result }), close: () => {} };
}

const source: PreparedSource = { model, version: "1.0" };
/** The output's extent is left to the execution. */
const openModel: Model = {
  ...model,
  main: {
    ...model.main,
    operands: model.main.operands.map((operand) =>
      operand.lifetime === OperandLifeTime.SUBGRAPH_OUTPUT ? { ...operand, dimensions: [0] } : operand,
    ),
  },
};

interface Options {
  readonly request?: Request;
  readonly measure?: MeasureTiming;
  readonly source?: PreparedSource | undefined;
  readonly log?: (line: string) => void;
}

function contextOf(preparedModel: PreparedModel, options: Options) {
  return { preparedModel, source: "source" in options ? options.source : source, log: options.log ?? (() => {}) };
}

/** A launch of an execution by each method. */
const launches = {
  execute: {
    notify: "notify",
    launch: (own: PreparedModel, callback: V1_3.IExecutionCallback | null, options: Options = {}) =>
      preparedModelV1_0(contextOf(own, options)).execute(oldRequestOf(options.request), callback),
  },
  execute_1_2: {
    notify: "notify_1_2",
    launch: (own: PreparedModel, callback: V1_3.IExecutionCallback | null, options: Options = {}) =>
      preparedModelV1_2(contextOf(own, options)).execute_1_2(
        oldRequestOf(options.request),
        options.measure ?? YES,
        callback,
      ),
  },
  execute_1_3: {
    notify: "notify_1_3",
    launch: (own: PreparedModel, callback: V1_3.IExecutionCallback | null, options: Options = {}) =>
      preparedModelV1_3(contextOf(own, options)).execute_1_3(
        options.request ?? requestOf(),
        options.measure ?? YES,
        none,
        none,
        callback,
      ),
  },
} as const;

/** A call of each synchronous method. */
const calls = {
  executeSynchronously: (own: PreparedModel, options: Options = {}) =>
    preparedModelV1_2(contextOf(own, options)).executeSynchronously(
      oldRequestOf(options.request),
      options.measure ?? YES,
    ),
  executeSynchronously_1_3: (own: PreparedModel, options: Options = {}) =>
    preparedModelV1_3(contextOf(own, options)).executeSynchronously_1_3(
      options.request ?? requestOf(),
      options.measure ?? YES,
      none,
      none,
    ),
};

const tooFew: Request = { ...requestOf(), outputs: [] };

function blobRequest(): Request {
  const request = requestOf();
  const pools = request.pools.map((pool): Request["pools"][number] => {
    if (pool.kind === "token") throw new TypeError("not a memory");
    const memory: Memory = { ...pool.memory, name: "hardware_buffer_blob" };
    return { kind: "memory", memory };
  });
  return { ...request, pools };
}

describe("faces of prepared models", () => {
  type Methods<Of> = Readonly<Record<Exclude<keyof Of, "close">, true>>;

  it("have the seven methods of the HAL", () => {
    const of10 = { execute: true } satisfies Methods<V1_0.IPreparedModel>;
    const of12 = {
      ...of10,
      execute_1_2: true,
      executeSynchronously: true,
      configureExecutionBurst: true,
    } satisfies Methods<V1_2.IPreparedModel>;
    const of13 = {
      ...of12,
      execute_1_3: true,
      executeSynchronously_1_3: true,
      executeFenced: true,
    } satisfies Methods<V1_3.IPreparedModel>;
    const methodsOf = (face: object) => Object.keys(face).filter((name) => name !== "close");
    const context = contextOf(makeEnding(), {});
    expect(methodsOf(preparedModelV1_0(context))).toEqual(Object.keys(of10));
    expect(methodsOf(preparedModelV1_2(context))).toEqual(Object.keys(of12));
    expect(methodsOf(preparedModelV1_3(context))).toEqual(Object.keys(of13));
    expect(Object.keys(of13)).toHaveLength(7);
  });
});

describe.each(Object.entries(launches))("%s", (name, { notify, launch }) => {
  const tell = (status: ErrorStatus, outputShapes = shapes, timing = measured) =>
    name === "execute" ? { method: notify, status } : { method: notify, status, outputShapes, timing };

  it("returns NONE at once and reports the outcome later, once, by the method of its version", async () => {
    const callback = executionCallback();
    expect(launch(makeEnding(), callback)).toEqual({ status: NONE });
    expect(callback.calls).toEqual([]);
    expect(await callback.first).toEqual(tell(NONE));
    await settleAll();
    expect(callback.calls).toHaveLength(1);
  });

  it("refuses a null callback, and executes nothing", () => {
    const execute = vi.fn<Execute>();
    expect(launch({ ...makeEnding(), execute }, null)).toEqual({
      status: INVALID_ARGUMENT,
      message: "the callback is null",
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it("refuses an invalid request by callback, then by its return", () => {
    const execute = vi.fn<Execute>();
    const callback = executionCallback();
    const { status, message } = launch({ ...makeEnding(), execute }, callback, { request: tooFew });
    expect({ status, message }).toEqual({
      status: INVALID_ARGUMENT,
      message: "the request is not valid: outputs: the request has 0 outputs where the model has 1",
    });
    expect(callback.calls).toEqual([tell(INVALID_ARGUMENT, [], notMeasured)]);
    expect(execute).not.toHaveBeenCalled();
  });

  it("leaves it to the device to check requests for a model from a cache", async () => {
    const callback = executionCallback();
    const options = { request: tooFew, source: undefined };
    expect(launch(makeEnding({ status: INVALID_ARGUMENT }), callback, options)).toEqual({ status: NONE });
    expect(await callback.first).toEqual(tell(INVALID_ARGUMENT, [], notMeasured));
  });

  it("reports a status that the caller knows", async () => {
    const callback = executionCallback();
    expect(launch(makeEnding({ status: MISSED_DEADLINE_PERSISTENT }), callback)).toEqual({ status: NONE });
    const expected = name === "execute_1_3" ? MISSED_DEADLINE_PERSISTENT : GENERAL_FAILURE;
    expect(await callback.first).toEqual(tell(expected, [], notMeasured));
  });

  it("reports shapes of outputs that did not fit, and no durations", async () => {
    const callback = executionCallback();
    launch(makeEnding({ status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: insufficient }), callback);
    expect(await callback.first).toEqual(tell(OUTPUT_INSUFFICIENT_SIZE, insufficient, notMeasured));
  });

  it("reports neither shapes nor durations of a failure, nor durations that were not requested", async () => {
    const callback = executionCallback();
    launch(makeEnding({ status: GENERAL_FAILURE }), callback);
    expect(await callback.first).toEqual(tell(GENERAL_FAILURE, [], notMeasured));
    const unmeasured = executionCallback();
    launch(makeEnding(), unmeasured, { measure: NO });
    expect(await unmeasured.first).toEqual(tell(NONE, shapes, notMeasured));
  });

  it("fails both ways if the execution cannot start, by callback if it fails later", async () => {
    const callback = executionCallback();
    const execute: Execute = () => {
      throw new Error("no memory");
    };
    expect(launch({ ...makeEnding(), execute }, callback)).toEqual({
      status: GENERAL_FAILURE,
      message: "the task could not be started: no memory",
    });
    expect(callback.calls).toEqual([tell(GENERAL_FAILURE, [], notMeasured)]);
    const later = executionCallback();
    expect(launch({ ...makeEnding(), execute: () => Promise.reject(new Error("gone")) }, later).status).toBe(NONE);
    expect(await later.first).toEqual(tell(GENERAL_FAILURE, [], notMeasured));
  });

  it("survives a callback that throws, and logs the lost diagnostics", async () => {
    const log: string[] = [];
    const breakIt = () => {
      throw new Error("client bug");
    };
    const callback = { notify: breakIt, notify_1_2: breakIt, notify_1_3: breakIt };
    const own = makeEnding({ status: GENERAL_FAILURE, message: "division" });
    expect(launch(own, callback, { log: (line) => log.push(line) }).status).toBe(NONE);
    await settleAll();
    expect(log).toEqual(["execute: division", "a callback of a client failed: client bug"]);
  });

  it(`${name === "execute" ? "needs" : "does not need"} to know the dimensions of the outputs`, async () => {
    const callback = executionCallback();
    const { status } = launch(makeEnding(), callback, { source: { model: openModel, version: "1.0" } });
    expect(status).toBe(name === "execute" ? INVALID_ARGUMENT : NONE);
  });

  it(`${name === "execute" ? "knows" : "takes"} newer pools where method or model is of HAL 1.2`, () => {
    const options = (version: "1.0" | "1.2") => ({ request: blobRequest(), source: { model, version } });
    const { status } = launch(makeEnding(), executionCallback(), options("1.0"));
    expect(status).toBe(name === "execute" ? INVALID_ARGUMENT : NONE);
    expect(launch(makeEnding(), executionCallback(), options("1.2")).status).toBe(NONE);
  });
});

describe.each(Object.entries(calls))("%s", (name, call) => {
  it("resolves with the outcome", async () => {
    expect(await call(makeEnding())).toEqual(success);
    expect((await call(makeEnding(), { measure: NO })).timing).toEqual(notMeasured);
  });

  it("resolves with what is wrong, without shapes and durations", async () => {
    const execute = vi.fn<Execute>();
    const refused = await call({ ...makeEnding(), execute }, { request: tooFew });
    expect(refused).toMatchObject({ status: INVALID_ARGUMENT, outputShapes: [], timing: notMeasured });
    expect(execute).not.toHaveBeenCalled();
    const missed = await call(makeEnding({ status: MISSED_DEADLINE_PERSISTENT, message: "late" }));
    expect(missed).toEqual({
      status: name === "executeSynchronously" ? GENERAL_FAILURE : MISSED_DEADLINE_PERSISTENT,
      message: "late",
      outputShapes: [],
      timing: notMeasured,
    });
  });

  it("does not reject if the device rejects or throws", async () => {
    const makeRejecting: Execute = () => Promise.reject(new Error("gone"));
    const makeThrowing: Execute = () => {
      throw new Error("gone");
    };
    for (const [execute, message] of [
      [makeRejecting, "the device: execute threw: gone"],
      [makeThrowing, "the execution failed: gone"],
    ] as const) {
      expect(await call({ ...makeEnding(), execute })).toEqual({
        status: GENERAL_FAILURE,
        message,
        outputShapes: [],
        timing: notMeasured,
      });
    }
  });

  it("does not reject if the request cannot be read", async () => {
    const garbage: V1_0.Request & V1_3.Request = JSON.parse("null");
    const context = contextOf(makeEnding(), {});
    const answer =
      name === "executeSynchronously"
        ? preparedModelV1_2(context).executeSynchronously(garbage, YES)
        : preparedModelV1_3(context).executeSynchronously_1_3(garbage, YES, none, none);
    expect((await answer).status).toBe(INVALID_ARGUMENT);
  });
});

describe("settings of an execution", () => {
  it("reach the device", async () => {
    const execute = vi.fn<Execute>(async () => success);
    const face = preparedModelV1_3(contextOf({ ...makeEnding(), execute }, {}));
    const deadline = { kind: "nanosecondsSinceEpoch", nanosecondsSinceEpoch: 5n } as const;
    const loopTimeout = { kind: "nanoseconds", nanoseconds: 0n } as const;
    face.execute(oldRequestOf(), executionCallback());
    face.execute_1_2(oldRequestOf(), YES, executionCallback());
    face.execute_1_3(requestOf(), NO, deadline, loopTimeout, executionCallback());
    await face.executeSynchronously(oldRequestOf(), NO);
    await face.executeSynchronously_1_3(requestOf(), YES, none, none);
    expect(execute.mock.calls.map(([, options]) => options)).toEqual([
      {},
      { measure: YES },
      { measure: NO, deadline: 5n, loopTimeoutDuration: 0n },
      { measure: NO },
      { measure: YES },
    ]);
    for (const [request] of execute.mock.calls) expect(elementAt(request.pools, 0).kind).toBe("memory");
  });
});

describe("configureExecutionBurst", () => {
  const memory: Memory = { name: "ashmem", size: 0, handle: null };
  const requests = { datum: "FmqRequestDatum", memory, capacity: 16 } as const;
  const results = { datum: "FmqResultDatum", memory, capacity: 16 } as const;
  const client = { getMemories: () => ({ status: NONE, buffers: [] }) };
  const burst = { freeMemory: vi.fn() };
  const configure = (own: PreparedModel, callback: typeof client | null = client) =>
    preparedModelV1_2(contextOf(own, {})).configureExecutionBurst(callback, requests, results);

  it("refuses a null callback; fails if the device has no bursts", async () => {
    expect(await configure(makeEnding(), null)).toMatchObject({ status: INVALID_ARGUMENT, context: null });
    expect(await configure(makeEnding())).toMatchObject({ status: GENERAL_FAILURE, context: null });
  });

  it("passes on what the device answers, a context only with NONE", async () => {
    const configureExecutionBurst = vi.fn<NonNullable<PreparedModel["configureExecutionBurst"]>>(async () => ({
      status: NONE,
      context: burst,
    }));
    const { status, context } = await configure({ ...makeEnding(), configureExecutionBurst });
    expect(status).toBe(NONE);
    context?.freeMemory(7);
    expect(burst.freeMemory).toHaveBeenCalledWith(7);
    expect(configureExecutionBurst).toHaveBeenCalledWith(client, requests, results);
    configureExecutionBurst.mockResolvedValueOnce({ status: INVALID_ARGUMENT, context: burst });
    expect(await configure({ ...makeEnding(), configureExecutionBurst })).toEqual({
      status: INVALID_ARGUMENT,
      context: null,
    });
    configureExecutionBurst.mockRejectedValueOnce(new Error("gone"));
    expect(await configure({ ...makeEnding(), configureExecutionBurst })).toMatchObject({ status: GENERAL_FAILURE });
  });
});

describe("executeFenced", () => {
  const fence: SyncFence = { state: "SIGNALED", wait: async () => "SIGNALED" };
  const told = { status: NONE, timingLaunched: measured, timingFenced: measured };
  const info = { getExecutionInfo: async () => told };
  const duration = { kind: "nanoseconds", nanoseconds: 7n } as const;
  const execute = (own: PreparedModel) =>
    preparedModelV1_3(contextOf(own, {})).executeFenced(requestOf(), [fence, null], YES, none, none, duration);

  it("fails if the device has no fences", async () => {
    expect(await execute(makeEnding())).toMatchObject({ status: GENERAL_FAILURE, syncFence: null, callback: null });
  });

  it("passes on what the device answers, a fence and a callback only with NONE", async () => {
    const executeFenced = vi.fn<NonNullable<PreparedModel["executeFenced"]>>(async () => ({
      status: NONE,
      syncFence: fence,
      callback: info,
    }));
    const own = { ...makeEnding(), executeFenced };
    const answer = await execute(own);
    expect([answer.status, await answer.syncFence?.wait()]).toEqual([NONE, await fence.wait()]);
    expect(await answer.callback?.getExecutionInfo()).toEqual(told);
    const [, waitFor, options] = elementAt(executeFenced.mock.calls, 0);
    expect({ waitFor, options }).toEqual({ waitFor: [fence, null], options: { measure: YES, duration: 7n } });
    executeFenced.mockResolvedValueOnce({ status: INVALID_ARGUMENT, syncFence: fence, callback: info });
    expect(await execute(own)).toEqual({ status: INVALID_ARGUMENT, syncFence: null, callback: null });
    executeFenced.mockRejectedValueOnce(new Error("gone"));
    expect(await execute(own)).toMatchObject({ status: GENERAL_FAILURE, syncFence: null, callback: null });
  });
});

it("leaves the model as it was", () => {
  expect(model).toEqual(floorModel());
});
