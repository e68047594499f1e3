import { fakeDevice } from "@nnhal/test-kit/fake-device";
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type Memory,
  Priority,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_1 } from "./convert/v1-1.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";
import { asV1_2, asV1_3 } from "./index.ts";
import { launches, makePreparing, none, token } from "./launches.test-helper.ts";
import { model, type PreparedCall, preparedCallback, settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
const { FAST_SINGLE_ANSWER, LOW_POWER } = ExecutionPreference;

describe("settings of a preparation", () => {
  it("reach the device", async () => {
    const prepareModel = vi.fn<Device["prepareModel"]>(async () => ({ status: GENERAL_FAILURE, preparedModel: null }));
    const face = asV1_3({ ...fakeDevice(), prepareModel });
    const files = [{ fds: [3] }];
    const deadline = { kind: "nanosecondsSinceEpoch", nanosecondsSinceEpoch: 5n } as const;
    face.prepareModel(convertToV1_0.model(model).value, preparedCallback());
    face.prepareModel_1_1(convertToV1_1.model(model).value, LOW_POWER, preparedCallback());
    face.prepareModel_1_2(convertToV1_2.model(model).value, LOW_POWER, files, [], token, preparedCallback());
    face.prepareModel_1_3(model, LOW_POWER, Priority.LOW, deadline, [], files, token, preparedCallback());
    face.prepareModel_1_3(model, LOW_POWER, Priority.LOW, none, [], [], token, preparedCallback());
    await settleAll();
    expect(prepareModel.mock.calls.map(([, options]) => options)).toEqual([
      {},
      { preference: LOW_POWER },
      { preference: LOW_POWER, cache: { modelCache: files, dataCache: [], token } },
      {
        preference: LOW_POWER,
        priority: Priority.LOW,
        deadline: 5n,
        cache: { modelCache: [], dataCache: files, token },
      },
      { preference: LOW_POWER, priority: Priority.LOW },
    ]);
  });

  it.each([-1, 3])("are refused if the preference is %i", (preference) => {
    const callback = preparedCallback();
    const face = asV1_3(fakeDevice());
    // As a hostile peer can send it.
    const wrong = preference as ExecutionPreference;
    expect(face.prepareModel_1_1(convertToV1_1.model(model).value, wrong, callback).status).toBe(INVALID_ARGUMENT);
    expect(face.prepareModel_1_2(convertToV1_2.model(model).value, wrong, [], [], token, callback).status).toBe(
      INVALID_ARGUMENT,
    );
    expect(face.prepareModel_1_3(model, wrong, Priority.LOW, none, [], [], token, callback)).toEqual({
      status: INVALID_ARGUMENT,
      message: `the execution preference: expected 0, 1 or 2, got ${preference}`,
    });
    expect(callback.calls.map(({ method, status }) => ({ method, status }))).toEqual([
      { method: "notify", status: INVALID_ARGUMENT },
      { method: "notify_1_2", status: INVALID_ARGUMENT },
      { method: "notify_1_3", status: INVALID_ARGUMENT },
    ]);
  });

  it.each([-1, 3])("are refused if the priority is %i", (priority) => {
    const callback = preparedCallback();
    const face = asV1_3(fakeDevice());
    const launched = face.prepareModel_1_3(
      model,
      FAST_SINGLE_ANSWER,
      priority as Priority,
      none,
      [],
      [],
      token,
      callback,
    );
    expect(launched).toEqual({
      status: INVALID_ARGUMENT,
      message: `the priority: expected 0, 1 or 2, got ${priority}`,
    });
    expect(callback.calls).toHaveLength(1);
  });

  it("never fail for the cache, whatever it is", async () => {
    const device = fakeDevice();
    const callback = preparedCallback();
    const garbage: V1_2.Handle[] = JSON.parse("null");
    const { status } = asV1_3(device).prepareModel_1_3(
      model,
      FAST_SINGLE_ANSWER,
      Priority.LOW,
      none,
      garbage,
      [],
      token,
      callback,
    );
    expect(status).toBe(NONE);
    expect((await callback.first).status).toBe(NONE);
  });

  it("are refused if a deadline cannot be read", () => {
    const callback = preparedCallback();
    const garbage: V1_3.OptionalTimePoint = JSON.parse("null");
    const { status } = asV1_3(fakeDevice()).prepareModel_1_3(
      model,
      FAST_SINGLE_ANSWER,
      Priority.LOW,
      garbage,
      [],
      [],
      token,
      callback,
    );
    expect(status).toBe(INVALID_ARGUMENT);
    expect(callback.calls).toHaveLength(1);
  });
});

describe("the prepared model of a face", () => {
  const preparedBy = async (method: (typeof launches)[keyof typeof launches]) => {
    const callback = preparedCallback();
    method.launch(fakeDevice(), model, callback);
    const { preparedModel } = await callback.first;
    return Object.keys(preparedModel ?? {});
  };

  it("has the methods of the face's version", async () => {
    const of10 = ["execute", "close"];
    expect(await preparedBy(launches.prepareModel)).toEqual(of10);
    expect(await preparedBy(launches.prepareModel_1_1)).toEqual(of10);
    const of12 = [...of10, "execute_1_2", "executeSynchronously", "configureExecutionBurst"];
    expect(await preparedBy(launches.prepareModel_1_2)).toEqual(of12);
    const of13 = [...of12, "execute_1_3", "executeSynchronously_1_3", "executeFenced"];
    expect(await preparedBy(launches.prepareModel_1_3)).toEqual(of13);
  });

  it("has them too if an older method of a newer face prepared it", async () => {
    const callback = preparedCallback();
    asV1_3(fakeDevice()).prepareModel(convertToV1_0.model(model).value, callback);
    expect(Object.keys((await callback.first).preparedModel ?? {})).toContain("executeFenced");
  });

  it("closes that of the device", async () => {
    const device = fakeDevice();
    const callback = preparedCallback();
    launches.prepareModel.launch(device, model, callback);
    (await callback.first).preparedModel?.close?.();
    expect(device.closed).toBe(1);
  });
});

describe("prepareModelFromCache", () => {
  const files = [{ fds: [3] }];
  const launch = {
    prepareModelFromCache: (device: Device, callback: V1_3.IPreparedModelCallback | null, bytes = token) =>
      asV1_2(device).prepareModelFromCache(files, [], bytes, callback),
    prepareModelFromCache_1_3: (device: Device, callback: V1_3.IPreparedModelCallback | null, bytes = token) =>
      asV1_3(device).prepareModelFromCache_1_3(none, files, [], bytes, callback),
  };
  const notifyOf: Readonly<Record<string, PreparedCall["method"]>> = {
    prepareModelFromCache: "notify_1_2",
    prepareModelFromCache_1_3: "notify_1_3",
  };

  describe.each(Object.entries(launch))("%s", (name, method) => {
    it("fails by both ways on a device that has no compilation caching", () => {
      const callback = preparedCallback();
      expect(method(fakeDevice(), callback).status).toBe(GENERAL_FAILURE);
      expect(callback.calls).toEqual([{ method: notifyOf[name], status: GENERAL_FAILURE, preparedModel: null }]);
    });

    it("refuses a null callback, and a token of another length", () => {
      const prepareModelFromCache = vi.fn();
      const device: Device = { ...fakeDevice(), prepareModelFromCache };
      expect(method(device, null).status).toBe(INVALID_ARGUMENT);
      const callback = preparedCallback();
      expect(method(device, callback, new Uint8Array(31))).toEqual({
        status: INVALID_ARGUMENT,
        message: "the cache token: expected 32 bytes, got 31",
      });
      expect(callback.calls).toHaveLength(1);
      expect(prepareModelFromCache).not.toHaveBeenCalled();
    });

    it("reports the device's answer about the files", async () => {
      const prepareModelFromCache = vi.fn<NonNullable<Device["prepareModelFromCache"]>>(async () => ({
        status: NONE,
        preparedModel: { execute: vi.fn(), close: vi.fn() },
      }));
      const callback = preparedCallback();
      expect(method({ ...fakeDevice(), prepareModelFromCache }, callback)).toEqual({ status: NONE });
      const { method: told, status, preparedModel } = await callback.first;
      expect({ told, status }).toEqual({ told: notifyOf[name], status: NONE });
      expect(preparedModel).not.toBeNull();
      expect(prepareModelFromCache).toHaveBeenCalledWith({ modelCache: files, dataCache: [], token }, {});
    });
  });
});

describe("allocate", () => {
  const desc = { dimensions: [2] };
  const role = { modelIndex: 0, ioIndex: 0, frequency: 1 };

  it("fails on a device without memory of its own", async () => {
    const answer = await asV1_3(fakeDevice()).allocate(desc, [], [role], []);
    expect(answer).toMatchObject({ status: GENERAL_FAILURE, buffer: null, token: 0 });
  });

  it("hands the device its own prepared models, and null for any other", async () => {
    const buffer = { copyTo: vi.fn(async () => ({ status: NONE })), copyFrom: vi.fn() };
    const allocate = vi.fn<NonNullable<Device["allocate"]>>(async () => ({ status: NONE, buffer, token: 3 }));
    const preparedModel = { execute: vi.fn(), close: vi.fn() };
    const device: Device = {
      ...makePreparing(async () => ({ status: NONE, preparedModel })),
      allocate,
    };
    const face = asV1_3(device);
    const callback = { own: null as V1_3.IPreparedModel | null };
    await new Promise<void>((resolve) => {
      face.prepareModel_1_3(model, LOW_POWER, Priority.LOW, none, [], [], token, {
        notify: vi.fn(),
        notify_1_2: vi.fn(),
        notify_1_3(_status, own) {
          callback.own = own;
          resolve();
        },
      });
    });
    const { own } = callback;
    if (own === null) throw new Error("no prepared model");
    const foreign = { ...own };
    const allocated = await face.allocate(desc, [own, null, foreign], [role], []);
    expect(allocated).toMatchObject({ status: NONE, token: 3 });
    const memory: Memory = { name: "ashmem", size: 0, handle: null };
    expect(await allocated.buffer?.copyTo(memory)).toEqual({ status: NONE });
    expect(buffer.copyTo).toHaveBeenCalledWith(memory);
    expect(allocate).toHaveBeenCalledWith(desc, [preparedModel, null, null], [role], []);
    const garbage: V1_3.IPreparedModel[] = JSON.parse("null");
    expect((await face.allocate(desc, garbage, [role], [])).status).toBe(INVALID_ARGUMENT);
  });

  it("answers neither buffer nor token with an error", async () => {
    const buffer = { copyTo: vi.fn(), copyFrom: vi.fn() };
    const refusing: Device = {
      ...fakeDevice(),
      allocate: async () => ({ status: INVALID_ARGUMENT, buffer, token: 3 }),
    };
    expect(await asV1_3(refusing).allocate(desc, [], [], [])).toEqual({
      status: INVALID_ARGUMENT,
      buffer: null,
      token: 0,
    });
    const broken: Device = { ...fakeDevice(), allocate: () => Promise.reject(new Error("gone")) };
    expect(await asV1_3(broken).allocate(desc, [], [], [])).toMatchObject({ status: GENERAL_FAILURE, token: 0 });
  });
});
