/** Faults of bursts and launches are found, one at a time. */
import {
  createTurns,
  openChannel,
  ringReader,
  ringWriter,
  sharedSignal,
  sleepUntil,
  writeResult,
} from "@nnhal/driver-core/burst";
import { asV1_3 } from "@nnhal/driver-core/versions";
import {
  type BurstResult,
  ErrorStatus,
  type FmqDescriptor,
  type PreparedModel,
  TIMING_NOT_MEASURED,
  type V1_3,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { failures, never, referenceDevice } from "./faulty-device.test-helper.ts";

const { NONE, INVALID_ARGUMENT } = ErrorStatus;

/** A service that says that it has executed whatever it gets. */
function carelessBurst(
  requests: FmqDescriptor<"FmqRequestDatum">,
  results: FmqDescriptor<"FmqResultDatum">,
): BurstResult {
  const [from, to] = [openChannel(requests, "FmqRequestDatum"), openChannel(results, "FmqResultDatum")];
  if ("noRing" in from || "noRing" in to) throw new Error("the queues are right");
  const signal = sharedSignal();
  const [reader, writer] = [ringReader(from, 1024, signal), ringWriter(to, 1024, signal)];
  const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
  const answer = writeResult({ status: NONE, outputShapes: [], timing });
  let isOver = false;
  const serve = async () => {
    while (!isOver) {
      await sleepUntil(reader, () => reader.read() ?? (isOver ? answer : undefined), createTurns(1));
      writer.write(answer);
    }
  };
  void serve();
  const close = () => {
    isOver = true;
    reader.wake();
  };
  return { status: NONE, context: { freeMemory() {}, close } };
}

describe("bursts of a device that", () => {
  it.each<[string, (right: PreparedModel) => Partial<PreparedModel>, string, RegExp]>([
    [
      "answers NONE to every packet",
      () => ({ configureExecutionBurst: async (_, requests, results) => carelessBurst(requests, results) }),
      "burst/packets",
      /it is executed/,
    ],
    [
      "takes no callback for one",
      ({ configureExecutionBurst }) => ({
        configureExecutionBurst: async (callback, requests, results) => {
          const none = { getMemories: () => ({ status: NONE, buffers: [] }) };
          return (await configureExecutionBurst?.(callback ?? none, requests, results)) ?? never();
        },
      }),
      "burst/service",
      /without a callback: expected INVALID_ARGUMENT, got NONE/,
    ],
    [
      "never answers",
      () => ({ configureExecutionBurst: async () => ({ status: NONE, context: { freeMemory() {}, close() {} } }) }),
      "burst/slots",
      /a burst: a packet of results: no answer within 50 ms/,
    ],
  ])("%s", async (_what, preparedModel, group, reason) => {
    const timeLimit = group === "burst/slots" ? 100 : 20_000;
    const failed = await failures({ preparedModel }, group, { timeLimit });
    expect(failed.map((result) => result.reason).join("\n")).toMatch(reason);
  });
});

describe("launches of a driver that", () => {
  type Drivers = (right: V1_3.IDevice) => Partial<V1_3.IDevice>;

  it.each<[string, Drivers, RegExp]>([
    [
      "calls its callback twice",
      ({ prepareModel_1_1 }) => ({
        prepareModel_1_1: (model, preference, callback) => {
          const notify: V1_3.IPreparedModelCallback["notify"] = (status, preparedModel) => {
            callback?.notify(status, preparedModel);
            callback?.notify(status, preparedModel);
          };
          return prepareModel_1_1(model, preference, callback && { notify });
        },
      }),
      /prepareModel_1_1: the callback was called 2 times/,
    ],
    [
      "calls a callback of another version",
      ({ prepareModel_1_3 }) => ({
        prepareModel_1_3: (model, preference, priority, deadline, modelCache, dataCache, token, callback) => {
          const notify_1_3: V1_3.IPreparedModelCallback["notify_1_3"] = (status, preparedModel) =>
            callback?.notify(status === NONE ? NONE : INVALID_ARGUMENT, preparedModel);
          const wrong = callback && { ...callback, notify_1_3 };
          return prepareModel_1_3(model, preference, priority, deadline, modelCache, dataCache, token, wrong);
        },
      }),
      /prepareModel_1_3: expected a call of the callback by notify_1_3, got notify/,
    ],
    [
      "answers NONE to what it refuses",
      ({ prepareModel }) => ({
        prepareModel: (model, callback) => {
          prepareModel(model, callback);
          return { status: NONE };
        },
      }),
      /prepareModel: expected INVALID_ARGUMENT, got NONE/,
    ],
    [
      "throws where there is no callback",
      ({ prepareModel }) => ({
        prepareModel: (model, callback) => {
          if (callback === null) throw new TypeError("callback is null");
          return prepareModel(model, callback);
        },
      }),
      /threw TypeError: callback is null/,
    ],
    [
      "never calls its callback",
      () => ({ prepareModel: () => ({ status: NONE }) }),
      /prepareModel: its callback notify was not called: no answer within 100 ms/,
    ],
  ])("%s", async (_what, change, reason) => {
    const right = asV1_3(await referenceDevice());
    const failed = await failures({}, "device/launch", { driver: { ...right, ...change(right) }, timeLimit: 200 });
    expect(failed.map((result) => result.reason).join("\n")).toMatch(reason);
  });
});

describe("executions of a driver that", () => {
  type Models = (right: V1_3.IPreparedModel) => Partial<V1_3.IPreparedModel>;

  /** The driver with other prepared models. */
  function driverWith(right: V1_3.IDevice, change: Models): V1_3.IDevice {
    return {
      ...right,
      prepareModel_1_3: (model, preference, priority, deadline, modelCache, dataCache, token, callback) => {
        const notify_1_3: V1_3.IPreparedModelCallback["notify_1_3"] = (status, preparedModel) =>
          callback?.notify_1_3(status, preparedModel && { ...preparedModel, ...change(preparedModel) });
        const changed = callback && { ...callback, notify_1_3 };
        return right.prepareModel_1_3(model, preference, priority, deadline, modelCache, dataCache, token, changed);
      },
    };
  }

  it.each<[string, Models, RegExp]>([
    [
      "calls its callback twice",
      ({ execute_1_2 }) => ({
        execute_1_2: (request, measure, callback) => {
          const notify_1_2: V1_3.IExecutionCallback["notify_1_2"] = (status, outputShapes, timing) => {
            callback?.notify_1_2(status, outputShapes, timing);
            setTimeout(() => callback?.notify_1_2(status, outputShapes, timing), 1);
          };
          return execute_1_2(request, measure, callback && { ...callback, notify_1_2 });
        },
      }),
      /^execute_1_2: the callback was called 2 times$/m,
    ],
    [
      "launches what it has to refuse",
      ({ execute }) => ({
        execute: (request, callback) => {
          execute(request, callback);
          return { status: NONE };
        },
      }),
      /^execute: expected INVALID_ARGUMENT, got NONE$/m,
    ],
    [
      "tells its caller and its callback different things",
      ({ execute_1_3 }) => ({
        execute_1_3: (request, measure, deadline, loopTimeout, callback) => {
          const notify_1_3: V1_3.IExecutionCallback["notify_1_3"] = (status, outputShapes, timing) =>
            callback?.notify_1_3(status === INVALID_ARGUMENT ? NONE : status, outputShapes, timing);
          return execute_1_3(request, measure, deadline, loopTimeout, callback && { ...callback, notify_1_3 });
        },
      }),
      /execute_1_3: the launch is INVALID_ARGUMENT, but the callback hears NONE/,
    ],
    [
      "tells shapes beside an error",
      ({ executeSynchronously_1_3 }) => ({
        executeSynchronously_1_3: async (request, measure, deadline, loopTimeout) => {
          const result = await executeSynchronously_1_3(request, measure, deadline, loopTimeout);
          return { ...result, outputShapes: [{ dimensions: [2, 3], isSufficient: true }] };
        },
      }),
      /executeSynchronously_1_3: 1 output shapes beside INVALID_ARGUMENT/,
    ],
    [
      "takes null for a callback",
      ({ execute_1_3 }) => ({
        execute_1_3: (request, measure, deadline, loopTimeout, callback) =>
          callback === null ? { status: NONE } : execute_1_3(request, measure, deadline, loopTimeout, callback),
      }),
      /execute_1_3 without a callback: expected INVALID_ARGUMENT, got NONE/,
    ],
  ])("%s", async (_what, change, reason) => {
    const driver = driverWith(asV1_3(await referenceDevice()), change);
    const failed = await failures({}, "prepared-model/launch", { driver });
    expect(failed.map((result) => result.reason).join("\n")).toMatch(reason);
  });
});
