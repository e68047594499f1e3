import { elementAt } from "@nnhal/operations";
import { fakeDevice } from "@nnhal/test-kit/fake-device";
import {
  type Device,
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
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { asV1_3, type LiftOptions, liftDevice } from "./index.ts";
import { type DriverCall, driverV1_0, driverV1_2, type OldBehaviour } from "./old-driver.test-helper.ts";
import { measured, model, oldRequestOf, requestOf } from "./versions.test-helper.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
const { MISSED_DEADLINE_PERSISTENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
const { NO, YES } = MeasureTiming;

const shapes = [{ dimensions: [2], isSufficient: true }];
const insufficient = [{ dimensions: [3], isSufficient: false }];

const drivers = { "1.0": driverV1_0, "1.2": driverV1_2 } as const;
type OldVersion = keyof typeof drivers;

/** A lifted prepared model of an old driver, and the calls that the driver receives from now on. */
async function preparedOf(
  version: OldVersion,
  behaviour: OldBehaviour = {},
  options: LiftOptions = {},
  of: Model = model,
): Promise<{ readonly preparedModel: PreparedModel; readonly calls: DriverCall[] }> {
  const { device, calls } = drivers[version](behaviour);
  const { preparedModel, message } = await liftDevice("old", device, options).prepareModel(of);
  if (preparedModel === null) throw new Error(message);
  calls.length = 0;
  return { preparedModel, calls };
}

/** A prepared model of a driver of HAL 1.3, lifted, over a canonical one. */
async function newestOf(below: Partial<PreparedModel>, options: LiftOptions = {}): Promise<PreparedModel> {
  const execute = async (): Promise<ExecutionResult> => ({ status: NONE, outputShapes: shapes, timing: measured });
  const prepared: PreparedModel = { execute, close: () => {}, ...below };
  const device: Device = { ...fakeDevice(), prepareModel: async () => ({ status: NONE, preparedModel: prepared }) };
  const { preparedModel, message } = await liftDevice("new", asV1_3(device), options).prepareModel(model);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

/** The model, with an output whose extent it does not know. */
const openModel: Model = {
  ...model,
  main: {
    ...model.main,
    operands: model.main.operands.map((operand) =>
      operand.lifetime === OperandLifeTime.SUBGRAPH_OUTPUT ? { ...operand, dimensions: [0] } : operand,
    ),
  },
};

const request = requestOf();

function rename(name: string): Request {
  const memory: Memory = { name, size: 8, handle: { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 0 } };
  return { ...request, pools: [memory, memory].map((one) => ({ kind: "memory", memory: one })) };
}

const tokenRequest: Request = { ...request, pools: [{ kind: "token", token: 1 }, elementAt(request.pools, 1)] };

describe("executing on a driver of HAL 1.0", () => {
  it("launches, and answers the shapes that the model knows, and no durations", async () => {
    const { preparedModel, calls } = await preparedOf("1.0");
    expect(await preparedModel.execute(request, { measure: YES })).toEqual({
      status: NONE,
      outputShapes: shapes,
      timing: notMeasured,
    });
    expect(calls).toEqual([["execute", oldRequestOf(request)]]);
  });

  it("answers the shapes that the request knows", async () => {
    const { preparedModel } = await preparedOf("1.0", {}, {}, openModel);
    const output = { ...elementAt(request.outputs, 0), dimensions: [2] };
    expect((await preparedModel.execute({ ...request, outputs: [output] })).outputShapes).toEqual(shapes);
  });

  it("fails if it would have to compute shapes", async () => {
    const { preparedModel, calls } = await preparedOf("1.0", {}, {}, openModel);
    expect(await preparedModel.execute(request)).toMatchObject({
      status: GENERAL_FAILURE,
      message:
        "old is of HAL 1.0, which cannot compute shapes: neither the model nor the request specifies all dimensions of the outputs",
    });
    expect(calls).toEqual([]);
  });

  it("makes a failure of outputs that do not fit, because the driver cannot report the needed sizes", async () => {
    const { preparedModel } = await preparedOf("1.0", { result: { status: OUTPUT_INSUFFICIENT_SIZE } });
    expect(await preparedModel.execute(request)).toEqual({
      status: GENERAL_FAILURE,
      message:
        "old: execute answered a result that is not valid: OUTPUT_INSUFFICIENT_SIZE comes with 0 shapes where there are 1 outputs",
      outputShapes: [],
      timing: notMeasured,
    });
  });
});

describe("executing on a driver of HAL 1.2", () => {
  it.each([
    [true, "executeSynchronously"],
    [false, "execute_1_2"],
  ])("calls and answers as it does (synchronous: %s)", async (synchronous, method) => {
    const { preparedModel, calls } = await preparedOf("1.2", {}, { synchronous });
    const success = { status: NONE, outputShapes: shapes };
    expect(await preparedModel.execute(request, { measure: YES })).toEqual({ ...success, timing: measured });
    expect(await preparedModel.execute(request)).toEqual({ ...success, timing: notMeasured });
    expect(calls).toEqual([
      [method, oldRequestOf(request), YES],
      [method, oldRequestOf(request), NO],
    ]);
  });

  it.each([true, false])("answers the shapes of outputs that do not fit (synchronous: %s)", async (synchronous) => {
    const result = { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: insufficient };
    const { preparedModel } = await preparedOf("1.2", { result }, { synchronous }, openModel);
    expect(await preparedModel.execute(request, { measure: YES })).toEqual({ ...result, timing: notMeasured });
  });

  it("answers the shapes that are known, if the driver leaves them out", async () => {
    const silent: OldBehaviour = { result: { status: NONE, outputShapes: [], timing: notMeasured } };
    const { preparedModel } = await preparedOf("1.2", silent);
    expect((await preparedModel.execute(request)).outputShapes).toEqual(shapes);
    const open = await preparedOf("1.2", silent, {}, openModel);
    // If they are not known, the driver must not leave them out.
    expect(await open.preparedModel.execute(request)).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
  });

  it("answers nothing else with an error, and no number that is not a status", async () => {
    const failing = await preparedOf("1.2", { result: { status: DEVICE_UNAVAILABLE } });
    const nothing = { outputShapes: [], timing: notMeasured };
    expect(await failing.preparedModel.execute(request, { measure: YES })).toEqual({
      status: DEVICE_UNAVAILABLE,
      ...nothing,
    });
    const odd = await preparedOf("1.2", { result: { status: 99 as ErrorStatus } });
    expect(await odd.preparedModel.execute(request)).toEqual({
      status: GENERAL_FAILURE,
      message: "old: execute answered a result that is not valid: the status is 99",
      ...nothing,
    });
  });
});

describe("executing on an old driver", () => {
  it.each<[OldVersion, Request, string]>([
    ["1.0", rename("hardware_buffer_blob"), "old is of HAL 1.0, which lacks the kind of a pool of the request"],
    ["1.0", tokenRequest, "old is of HAL 1.0, which lacks the kind of a pool of the request"],
    ["1.2", tokenRequest, "old is of HAL 1.2, which lacks the kind of a pool of the request"],
  ])("of HAL %s fails with pools that it does not know", async (version, newer, why) => {
    const { preparedModel, calls } = await preparedOf(version);
    expect(await preparedModel.execute(newer)).toMatchObject({ status: GENERAL_FAILURE, message: `execute: ${why}` });
    expect(calls).toEqual([]);
  });

  it.each<OldVersion>(["1.0", "1.2"])("of HAL %s refuses pools of an unknown kind", async (version) => {
    const { preparedModel, calls } = await preparedOf(version);
    expect((await preparedModel.execute(rename("paper"))).status).toBe(INVALID_ARGUMENT);
    expect(calls).toEqual([]);
  });

  it("accepts pools that the version has", async () => {
    expect((await (await preparedOf("1.0")).preparedModel.execute(rename("mmap_fd"))).status).toBe(NONE);
    expect((await (await preparedOf("1.2")).preparedModel.execute(rename("hardware_buffer"))).status).toBe(NONE);
  });

  it("knows deadlines in its place", async () => {
    const { preparedModel, calls } = await preparedOf("1.2", {}, { now: () => 5n });
    expect((await preparedModel.execute(request, { deadline: 5n })).status).toBe(MISSED_DEADLINE_PERSISTENT);
    expect(calls).toEqual([]);
    expect((await preparedModel.execute(request, { deadline: 6n })).status).toBe(NONE);
  });

  it("is an invalid argument after it was closed", async () => {
    const { preparedModel, calls } = await preparedOf("1.2");
    preparedModel.close();
    expect((await preparedModel.execute(request)).status).toBe(INVALID_ARGUMENT);
    expect((await preparedModel.executeFenced?.(request, []))?.status).toBe(INVALID_ARGUMENT);
    expect(calls).toEqual([["close"]]);
  });

  it("fails if the driver throws or rejects", async () => {
    const breaking = async (own: Partial<V1_2.IPreparedModel> & V1_0.IPreparedModel) => {
      const { device } = driverV1_0();
      const broken: V1_0.IDevice = {
        ...device,
        prepareModel(_model, callback) {
          callback?.notify(NONE, own);
          return { status: NONE };
        },
      };
      const { preparedModel } = await liftDevice("broken", broken).prepareModel(model);
      return preparedModel?.execute(request);
    };
    const execute = () => {
      throw new Error("transport");
    };
    expect(await breaking({ execute })).toMatchObject({
      status: GENERAL_FAILURE,
      message: "the driver failed: transport",
    });
    const executeSynchronously = () => Promise.reject(new Error("transport"));
    expect(await breaking({ execute, executeSynchronously })).toMatchObject({
      status: GENERAL_FAILURE,
      message: "broken: execute threw: transport",
    });
  });
});

describe("executing on a driver of HAL 1.3", () => {
  it.each([true, false])("passes everything on (synchronous: %s)", async (synchronous) => {
    const execute = vi.fn<PreparedModel["execute"]>(async () => ({
      status: NONE,
      outputShapes: shapes,
      timing: measured,
    }));
    const preparedModel = await newestOf({ execute }, { synchronous, now: () => 100n });
    const options = { measure: YES, deadline: 7n, loopTimeoutDuration: 9n };
    expect(await preparedModel.execute(request, options)).toMatchObject({ status: NONE, timing: measured });
    expect(execute).toHaveBeenCalledWith(request, options);
    execute.mockResolvedValueOnce({ status: MISSED_DEADLINE_PERSISTENT, outputShapes: [], timing: notMeasured });
    expect((await preparedModel.execute(request)).status).toBe(MISSED_DEADLINE_PERSISTENT);
  });

  it("executes behind fences as the driver does", async () => {
    const fence: SyncFence = { state: "SIGNALED", wait: async () => "SIGNALED" };
    const info = { status: NONE, timingLaunched: measured, timingFenced: measured };
    const callback = { getExecutionInfo: async () => info };
    const executeFenced = vi.fn<NonNullable<PreparedModel["executeFenced"]>>(async () => ({
      status: NONE,
      syncFence: fence,
      callback,
    }));
    const preparedModel = await newestOf({ executeFenced });
    const options = { measure: YES, deadline: 7n, loopTimeoutDuration: 9n, duration: 11n };
    const answer = await preparedModel.executeFenced?.(request, [fence], options);
    expect([answer?.status, await answer?.syncFence?.wait()]).toEqual([NONE, await fence.wait()]);
    expect(await answer?.callback?.getExecutionInfo()).toEqual(info);
    expect(executeFenced).toHaveBeenCalledWith(request, [fence], options);
    const without = await newestOf({});
    expect((await without.executeFenced?.(request, []))?.status).toBe(GENERAL_FAILURE);
  });
});

describe("configureExecutionBurst", () => {
  const memory: Memory = { name: "ashmem", size: 0, handle: null };
  const requests = { datum: "FmqRequestDatum", memory, capacity: 16 } as const;
  const results = { datum: "FmqResultDatum", memory, capacity: 16 } as const;
  const client = { getMemories: () => ({ status: NONE, buffers: [] }) };

  it("fails on a driver of HAL 1.0, asks one of HAL 1.2", async () => {
    const old = await preparedOf("1.0");
    expect(await old.preparedModel.configureExecutionBurst?.(client, requests, results)).toEqual({
      status: GENERAL_FAILURE,
      message: "configureExecutionBurst: old is of HAL 1.0, which has no bursts",
      context: null,
    });
    const { preparedModel, calls } = await preparedOf("1.2");
    const { status, context } = (await preparedModel.configureExecutionBurst?.(client, requests, results)) ?? {};
    expect(status).toBe(NONE);
    expect(context).not.toBeNull();
    expect(calls).toEqual([["configureExecutionBurst", client, requests, results]]);
  });
});
