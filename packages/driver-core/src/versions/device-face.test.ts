import { fakeDevice } from "@nnhal/test-kit/fake-device";
import { floorModel } from "@nnhal/test-kit/models";
import {
  DEVICE_TYPE_UNKNOWN,
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type HidlVersion,
  type Model,
  OperandType,
  type V1_0,
  type V1_1,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { nonExtensionOperandPerformance } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_1 } from "./convert/v1-1.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";
import { asV1_0, asV1_1, asV1_2, asV1_3 } from "./index.ts";
import { launches, makeFailing, makePreparing } from "./launches.test-helper.ts";
import { model, preparedCallback, settleAll } from "./versions.test-helper.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

const wrongModel: Model = floorModel({ type: OperandType.TENSOR_INT32 });

describe("faces", () => {
  type Methods<Of> = Readonly<Record<keyof Of, true>>;

  const methods10 = {
    getCapabilities: true,
    getSupportedOperations: true,
    prepareModel: true,
    getStatus: true,
  } satisfies Methods<V1_0.IDevice>;
  const methods11 = {
    ...methods10,
    getCapabilities_1_1: true,
    getSupportedOperations_1_1: true,
    prepareModel_1_1: true,
  } satisfies Methods<V1_1.IDevice>;
  const methods12 = {
    ...methods11,
    getVersionString: true,
    getType: true,
    getCapabilities_1_2: true,
    getSupportedExtensions: true,
    getSupportedOperations_1_2: true,
    getNumberOfCacheFilesNeeded: true,
    prepareModel_1_2: true,
    prepareModelFromCache: true,
  } satisfies Methods<V1_2.IDevice>;
  const methods13 = {
    ...methods12,
    getCapabilities_1_3: true,
    getSupportedOperations_1_3: true,
    prepareModel_1_3: true,
    prepareModelFromCache_1_3: true,
    allocate: true,
  } satisfies Methods<V1_3.IDevice>;

  it("have the methods of their version and of those before, and no others", () => {
    const device = fakeDevice();
    expect(Object.keys(asV1_0(device))).toEqual(Object.keys(methods10));
    expect(Object.keys(asV1_1(device))).toEqual(Object.keys(methods11));
    expect(Object.keys(asV1_2(device)).sort()).toEqual(Object.keys(methods12).sort());
    expect(Object.keys(asV1_3(device)).sort()).toEqual(Object.keys(methods13).sort());
    expect(Object.keys(methods13)).toHaveLength(20);
  });
});

describe("what a device says of itself", () => {
  const one = { execTime: 1, powerUsage: 1 };
  const capabilities = {
    relaxedFloat32toFloat16PerformanceScalar: one,
    relaxedFloat32toFloat16PerformanceTensor: one,
    operandPerformance: nonExtensionOperandPerformance(one),
    ifPerformance: one,
    whilePerformance: one,
  };
  const device: Device = {
    ...fakeDevice(),
    getCapabilities: () => ({ status: NONE, capabilities }),
    getStatus: () => DeviceStatus.BUSY,
    getType: () => ({ status: NONE, type: DeviceType.GPU }),
    getVersionString: () => ({ status: NONE, version: "7" }),
    getSupportedExtensions: () => ({ status: NONE, extensions: [{ name: "com.example", operandTypes: [] }] }),
    getNumberOfCacheFilesNeeded: () => ({ status: NONE, numModelCache: 1, numDataCache: 2 }),
  };

  it("is the same in all versions, in the form of each", () => {
    const face = asV1_3(device);
    expect(face.getCapabilities()).toEqual({
      status: NONE,
      capabilities: { float32Performance: one, quantized8Performance: one },
    });
    expect(face.getCapabilities_1_1().capabilities.relaxedFloat32toFloat16Performance).toEqual(one);
    expect(face.getCapabilities_1_2().capabilities.operandPerformance).toHaveLength(16);
    expect(face.getCapabilities_1_3()).toEqual({ status: NONE, capabilities });
    expect(face.getStatus()).toBe(DeviceStatus.BUSY);
    expect(face.getType()).toEqual({ status: NONE, type: DeviceType.GPU });
    expect(face.getVersionString()).toEqual({ status: NONE, version: "7" });
    expect(face.getSupportedExtensions().extensions.map(({ name }) => name)).toEqual(["com.example"]);
    expect(face.getNumberOfCacheFilesNeeded()).toEqual({ status: NONE, numModelCache: 1, numDataCache: 2 });
  });

  it("warns of parts that an older caller does not get", () => {
    const log: string[] = [];
    asV1_0(device, { log: (line) => log.push(line) }).getCapabilities();
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("converting capabilities to HAL 1.0 loses something");
  });

  it("has a type of HAL 1.2, even if the device reports none", () => {
    const unknown: Device = { ...device, getType: () => ({ status: NONE, type: DEVICE_TYPE_UNKNOWN }) };
    expect(asV1_2(unknown).getType().type).toBe(DeviceType.OTHER);
  });

  it("reports statuses that older callers know", () => {
    const status = ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT;
    const exhausted: Device = {
      ...device,
      getCapabilities: () => ({ status, message: "why", capabilities }),
      getType: () => ({ status, type: DeviceType.CPU }),
    };
    const face = asV1_3(exhausted);
    expect(face.getCapabilities_1_2()).toMatchObject({ status: GENERAL_FAILURE, message: "why" });
    expect(face.getType().status).toBe(GENERAL_FAILURE);
    expect(face.getCapabilities_1_3().status).toBe(status);
  });
});

describe("getSupportedOperations", () => {
  const device = fakeDevice({
    getSupportedOperations: () => ({ status: NONE, supported: [true, false], reasons: [undefined, "FLOOR: not now"] }),
  });
  const ask = {
    "1.0": (of: Model) => asV1_0(device).getSupportedOperations(convertToV1_0.model(of).value),
    "1.1": (of: Model) => asV1_1(device).getSupportedOperations_1_1(convertToV1_1.model(of).value),
    "1.2": (of: Model) => asV1_2(device).getSupportedOperations_1_2(convertToV1_2.model(of).value),
    "1.3": (of: Model) => asV1_3(device).getSupportedOperations_1_3(of),
  };

  it.each(Object.entries(ask))("of HAL %s passes the answer on, without reasons", (_version, method) => {
    expect(method(model)).toEqual({ status: NONE, supportedOperations: [true, false] });
  });

  it.each(Object.entries(ask))("of HAL %s refuses a model that is not valid", async (_version, method) => {
    const answer = await method(wrongModel);
    expect(answer).toMatchObject({ status: INVALID_ARGUMENT, supportedOperations: [] });
    expect(answer.message).toContain("the model is not valid: main.operations[0]: FLOOR");
  });

  it.each<[HidlVersion, Partial<Parameters<typeof floorModel>[0]>]>([
    ["1.0", { type: OperandType.TENSOR_FLOAT16 }],
    ["1.1", { type: OperandType.TENSOR_FLOAT16 }],
    ["1.1", { dimensions: [] }],
  ])("of HAL %s refuses a model that only later versions know", async (version, facts) => {
    expect((await ask[version](floorModel(facts))).status).toBe(INVALID_ARGUMENT);
    expect((await ask["1.2"](floorModel(facts))).status).toBe(NONE);
  });

  it("logs the reasons", () => {
    const log: string[] = [];
    asV1_3(device, { log: (line) => log.push(line) }).getSupportedOperations_1_3(model);
    expect(log).toEqual(["getSupportedOperations: FLOOR: not now"]);
  });

  it("answers no list with an error", () => {
    const broken = fakeDevice({
      getSupportedOperations: () => ({ status: GENERAL_FAILURE, supported: [true], reasons: [] }),
    });
    expect(asV1_1(broken).getSupportedOperations_1_1(convertToV1_1.model(model).value)).toEqual({
      status: GENERAL_FAILURE,
      supportedOperations: [],
    });
  });

  it("treats unreadable arguments as invalid", async () => {
    // As a caller without types can pass it.
    const garbage: V1_3.Model = JSON.parse("null");
    const answer = await asV1_3(device).getSupportedOperations_1_3(garbage);
    expect(answer).toMatchObject({ status: INVALID_ARGUMENT, supportedOperations: [] });
    expect(answer.message).toContain("the arguments cannot be read");
  });
});

describe.each(Object.entries(launches))("%s", (_method, { notify, launch }) => {
  it("returns NONE at once and passes the prepared model later, once, by the method of its version", async () => {
    const callback = preparedCallback();
    expect(launch(fakeDevice(), model, callback)).toEqual({ status: NONE });
    expect(callback.calls).toEqual([]);
    const { method, status, preparedModel } = await callback.first;
    expect({ method, status }).toEqual({ method: notify, status: NONE });
    expect(preparedModel).not.toBeNull();
    await settleAll();
    expect(callback.calls).toHaveLength(1);
  });

  it("passes the given model to the device", async () => {
    const device = fakeDevice();
    const callback = preparedCallback();
    launch(device, model, callback);
    await callback.first;
    expect(device.prepared).toEqual([model]);
  });

  it("refuses a null callback, and prepares nothing", async () => {
    const device = fakeDevice();
    expect(launch(device, model, null)).toEqual({ status: INVALID_ARGUMENT, message: "the callback is null" });
    await settleAll();
    expect(device.prepared).toEqual([]);
  });

  it("refuses an invalid model by callback, then by its return, with the same status", () => {
    const device = fakeDevice();
    const callback = preparedCallback();
    expect(launch(device, wrongModel, callback).status).toBe(INVALID_ARGUMENT);
    expect(callback.calls).toEqual([{ method: notify, status: INVALID_ARGUMENT, preparedModel: null }]);
    expect(device.prepared).toEqual([]);
  });

  it("reports a failure of the device later, without a model", async () => {
    const callback = preparedCallback();
    const log: string[] = [];
    const options = { log: (line: string) => log.push(line) };
    expect(launch(makeFailing(DEVICE_UNAVAILABLE), model, callback, options)).toEqual({ status: NONE });
    expect(await callback.first).toEqual({ method: notify, status: DEVICE_UNAVAILABLE, preparedModel: null });
    expect(log).toEqual(["prepareModel: why"]);
  });

  it("reports a passed deadline by callback, with a status that the caller knows", async () => {
    const callback = preparedCallback();
    expect(launch(makeFailing(MISSED_DEADLINE_PERSISTENT), model, callback)).toEqual({ status: NONE });
    const expected = notify === "notify_1_3" ? MISSED_DEADLINE_PERSISTENT : GENERAL_FAILURE;
    expect((await callback.first).status).toBe(expected);
  });

  it("fails both ways if the device cannot start", () => {
    const callback = preparedCallback();
    const device = makePreparing(() => {
      throw new Error("no memory");
    });
    expect(launch(device, model, callback)).toEqual({
      status: GENERAL_FAILURE,
      message: "the task could not be started: no memory",
    });
    expect(callback.calls).toEqual([{ method: notify, status: GENERAL_FAILURE, preparedModel: null }]);
  });

  it("reports GENERAL_FAILURE if the device fails later", async () => {
    const callback = preparedCallback();
    const device = makePreparing(() => Promise.reject(new Error("gone")));
    expect(launch(device, model, callback).status).toBe(NONE);
    expect(await callback.first).toEqual({ method: notify, status: GENERAL_FAILURE, preparedModel: null });
  });

  it("treats NONE without a model as a failure, and frees a model that comes with a failure", async () => {
    const callback = preparedCallback();
    launch(
      makePreparing(async () => ({ status: NONE, preparedModel: null })),
      model,
      callback,
    );
    expect(await callback.first).toEqual({ method: notify, status: GENERAL_FAILURE, preparedModel: null });
    const close = vi.fn();
    const second = preparedCallback();
    launch(
      makePreparing(async () => ({ status: INVALID_ARGUMENT, preparedModel: { execute: vi.fn(), close } })),
      model,
      second,
    );
    expect(await second.first).toEqual({ method: notify, status: INVALID_ARGUMENT, preparedModel: null });
    expect(close).toHaveBeenCalledOnce();
  });

  it("survives a callback that throws or rejects", async () => {
    const log: string[] = [];
    const options = { log: (line: string) => log.push(line) };
    const makeThrowing = () => {
      throw new Error("client bug");
    };
    const makeRejecting = async () => makeThrowing();
    for (const broken of [makeThrowing, makeRejecting]) {
      const callback = { notify: broken, notify_1_2: broken, notify_1_3: broken };
      expect(launch(fakeDevice(), model, callback, options).status).toBe(NONE);
      expect(launch(fakeDevice(), wrongModel, callback, options).status).toBe(INVALID_ARGUMENT);
      await settleAll();
    }
    expect(log.filter((line) => line === "a callback of a client failed: client bug")).toHaveLength(4);
  });
});
