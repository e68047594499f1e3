import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import { aidlVersions, type Device, ErrorStatus, type Request } from "@nnhal/types";
import { type AIDL1, type AIDL4, DeadObjectException, ServiceSpecificException } from "@nnhal/types/aidl";
import { describe, expect, it } from "vitest";
import { openDevice } from "../../device/index.ts";
import { liftDevice } from "../lift-device.ts";
import { model, requestOf } from "../versions.test-helper.ts";
import { convertToAidl4 } from "./convert.ts";
import { asAidl1, asAidl2, asAidl3, asAidl4 } from "./device-face.ts";

const { INVALID_ARGUMENT, GENERAL_FAILURE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;

async function reference(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const own = convertToAidl4.model(model).value;
const noFiles = [[], [], new Uint8Array(32)] as const;
const fast = [1, 1] as const;

/** The results of a launch: the calls of its callback, and the status that it throws. */
async function launchTask(launch: (callback: AIDL1.IPreparedModelCallback) => void) {
  const calls: { readonly status: ErrorStatus; readonly preparedModel: AIDL1.IPreparedModel | null }[] = [];
  let thrown: unknown;
  await new Promise<void>((resolve) => {
    const notify: AIDL1.IPreparedModelCallback["notify"] = (status, preparedModel) => {
      calls.push({ status, preparedModel });
      resolve();
    };
    try {
      launch({ notify });
    } catch (error) {
      thrown = error;
      resolve();
    }
  });
  return { calls, thrown };
}

async function prepare(): Promise<AIDL4.IPreparedModel> {
  const driver = asAidl4(await reference());
  const { calls } = await launchTask((callback) => driver.prepareModel(own, ...fast, -1n, ...noFiles, callback));
  const preparedModel = calls[0]?.preparedModel ?? null;
  if (!isAidl4(preparedModel)) throw new Error("expected a prepared model of AIDL 4, got another or none");
  return preparedModel;
}

function isAidl4(preparedModel: AIDL1.IPreparedModel | null): preparedModel is AIDL4.IPreparedModel {
  return preparedModel !== null && "createReusableExecution" in preparedModel;
}

const write = (request: Request = requestOf()) => convertToAidl4.request(request).value;
const config = { measureTiming: false, loopTimeoutDurationNs: -1n, executionHints: [], extensionNameToPrefix: [] };
const refusedWith = (errorCode: ErrorStatus) =>
  expect.objectContaining({ name: "ServiceSpecificException", errorCode });

describe("a device as a driver of AIDL", () => {
  it("answers the version and the hash of each version", async () => {
    const device = await reference();
    const drivers = [asAidl1(device), asAidl2(device), asAidl3(device), asAidl4(device)];
    expect(drivers.map((driver) => driver.getInterfaceVersion())).toEqual([1, 2, 3, 4]);
    expect(drivers.map((driver) => driver.getInterfaceHash().slice(0, 8))).toEqual([
      ...["ae57b484", "04c95c94", "8c2c4ca2", "53178f8d"],
    ]);
    expect(drivers.map((driver) => "prepareModelWithConfig" in driver)).toEqual([false, false, false, true]);
    expect(drivers.some((driver) => "getStatus" in driver)).toBe(false);
  });

  it("tells the callback of a fault, then throws it", async () => {
    const driver = asAidl1(await reference());
    const launches: readonly ((callback: AIDL1.IPreparedModelCallback) => void)[] = [
      (callback) =>
        driver.prepareModel({ ...own, pools: [{ ashmem: { fd: null, size: 1 } }] }, ...fast, -1n, ...noFiles, callback),
      (callback) => driver.prepareModel(own, ...fast, -2n, ...noFiles, callback),
      (callback) => driver.prepareModel(own, ...fast, -1n, [], [], new Uint8Array(31), callback),
      (callback) => driver.prepareModelFromCache(-1n, [], [], new Uint8Array(33), callback),
      (callback) => driver.prepareModelFromCache(-2n, ...noFiles, callback),
    ];
    for (const launch of launches) {
      const { calls, thrown } = await launchTask(launch);
      expect(calls).toEqual([{ status: INVALID_ARGUMENT, preparedModel: null }]);
      expect(thrown).toEqual(refusedWith(INVALID_ARGUMENT));
    }
  });

  it("throws a null callback alone, and returns a deadline that has passed by the callback", async () => {
    const driver = asAidl1(await reference());
    expect(() => driver.prepareModel(own, ...fast, -1n, ...noFiles, null)).toThrow(refusedWith(INVALID_ARGUMENT));
    const { calls, thrown } = await launchTask((callback) =>
      driver.prepareModel(own, ...fast, 0n, ...noFiles, callback),
    );
    expect(thrown).toBeUndefined();
    expect([MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT]).toContain(elementAt(calls, 0).status);
  });

  it("converts deadlines from the clock of the machine, if there is one", async () => {
    let deadline: bigint | undefined;
    const device: Device = {
      ...(await reference()),
      prepareModel(_model, options) {
        deadline = options?.deadline;
        return Promise.resolve({ status: GENERAL_FAILURE, preparedModel: null });
      },
    };
    const driver = asAidl1(device, { now: () => 1_000n, bootClock: () => 5_000n });
    await launchTask((callback) => driver.prepareModel(own, ...fast, 5_700n, ...noFiles, callback));
    expect(deadline).toBe(1_700n);
  });

  it.each<[string, Partial<AIDL4.PrepareModelConfig>]>([
    ["a token twice", { compilationHints: [1, 2].map((byte) => ({ token: 0x1_0001, value: new Uint8Array([byte]) })) }],
    ["a token without a prefix", { compilationHints: [{ token: 0x2_0001, value: new Uint8Array() }] }],
    ["a negative token", { compilationHints: [{ token: -1, value: new Uint8Array() }] }],
    ["a prefix of 16 bits", { extensionNameToPrefix: [{ name: "com.example", prefix: 0x8000 }] }],
  ])("refuses %s in a configuration, and passes on good hints", async (_what, flaw) => {
    let hints: unknown;
    const device: Device = {
      ...(await reference()),
      prepareModel(_model, options) {
        hints = options?.hints;
        return Promise.resolve({ status: GENERAL_FAILURE, preparedModel: null });
      },
    };
    const good: AIDL4.PrepareModelConfig = {
      ...{ preference: 1, priority: 1, deadlineNs: -1n, modelCache: [], dataCache: [] },
      cacheToken: new Uint8Array(32),
      compilationHints: [{ token: 0x1_0001, value: new Uint8Array([7]) }],
      extensionNameToPrefix: [{ name: "com.example", prefix: 1 }],
    };
    const driver = asAidl4(device);
    const refused = await launchTask((callback) => driver.prepareModelWithConfig(own, { ...good, ...flaw }, callback));
    expect(refused.thrown).toEqual(refusedWith(INVALID_ARGUMENT));
    expect(hints).toBeUndefined();
    await launchTask((callback) => driver.prepareModelWithConfig(own, good, callback));
    expect(hints).toEqual({ pairs: good.compilationHints, extensionNameToPrefix: good.extensionNameToPrefix });
  });
});

describe("a prepared model behind AIDL", () => {
  const pad = (padding: number, length = 8): AIDL1.Request => {
    const request = write(requestOf(new Uint8Array(16)));
    const location = { ...elementAt(request.inputs, 0).location, length, padding };
    return { ...request, inputs: [{ ...elementAt(request.inputs, 0), location }] };
  };

  it("executes with padding up to the end of the pool, and needs the exact length", async () => {
    const own = await prepare();
    const execute = (request: AIDL1.Request) => own.executeSynchronously(request, false, -1n, -1n);
    await expect(execute(pad(0))).resolves.toMatchObject({ outputSufficientSize: true });
    await expect(execute(pad(8))).resolves.toMatchObject({ outputSufficientSize: true });
    await expect(execute(pad(9))).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
    await expect(execute(pad(0, 9))).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
    await expect(execute(pad(0, 0))).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
  });

  it.each([-2n, 2n ** 63n])("refuses a time of %s, and takes the greatest and -1", async (time) => {
    const own = await prepare();
    const request = write();
    await expect(own.executeSynchronously(request, false, time, -1n)).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
    await expect(own.executeSynchronously(request, false, -1n, time)).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
    const fenced = own.executeFenced(request, [], false, -1n, -1n, time);
    await expect(fenced).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
    for (const good of [-1n, 2n ** 63n - 1n]) {
      await expect(own.executeSynchronously(request, false, good, good)).resolves.toMatchObject({
        outputSufficientSize: true,
        timing: { timeOnDeviceNs: -1n, timeInDriverNs: -1n },
      });
    }
  });

  it("keeps the memories of a burst by their names until they are released", async () => {
    const burst = await (await prepare()).configureExecutionBurst();
    const output = new Uint8Array(8);
    const valuesOf = (first: number) => new Uint8Array(new Float32Array([first, first]).buffer);
    const run = async (first: number, tokens: readonly bigint[]) => {
      await burst.executeSynchronously(write(requestOf(valuesOf(first), output)), tokens, false, -1n, -1n);
      return new Float32Array(output.slice().buffer)[0];
    };
    expect(await run(1, [0n, -1n])).toBe(1);
    expect(await run(2, [0n, -1n])).toBe(1);
    burst.releaseMemoryResource(-1n);
    burst.releaseMemoryResource(7n);
    expect(await run(2, [0n, -1n])).toBe(1);
    burst.releaseMemoryResource(0n);
    expect(await run(2, [0n, -1n])).toBe(2);
    expect(await run(3, [-1n, -1n])).toBe(3);
    for (const tokens of [[0n], [0n, 1n, 2n], [-2n, 0n], [0n, -2n]]) {
      await expect(run(1, tokens)).rejects.toEqual(refusedWith(INVALID_ARGUMENT));
    }
    expect(() => burst.releaseMemoryResource(-2n)).toThrow(refusedWith(INVALID_ARGUMENT));
  });

  it("runs a burst and a reusable execution one at a time, any number of times", async () => {
    const own = await prepare();
    const burst = await own.configureExecutionBurst();
    const execution = await own.createReusableExecution(write(), config);
    const runs = [
      () => burst.executeSynchronouslyWithConfig(write(), [-1n, -1n], config, -1n),
      () => execution.executeSynchronously(-1n),
    ];
    for (const run of runs) {
      const [first, second] = await Promise.allSettled([run(), run()]);
      expect(first).toMatchObject({ status: "fulfilled", value: { outputSufficientSize: true } });
      expect(second).toEqual({ status: "rejected", reason: refusedWith(GENERAL_FAILURE) });
      await expect(run()).resolves.toMatchObject({ outputSufficientSize: true });
    }
  });

  it("lets the device set a reusable execution up, and repeats ordinary executions of one that cannot", async () => {
    for (const canSetUp of [true, false]) {
      const device = await reference();
      const calls: string[] = [];
      const counting: Device = {
        ...device,
        async prepareModel(...given) {
          const { preparedModel, ...outcome } = await device.prepareModel(...given);
          if (preparedModel === null) return { ...outcome, preparedModel };
          const { createReusableExecution, executeFenced, ...others } = preparedModel;
          return {
            ...outcome,
            preparedModel: {
              ...others,
              execute: (...call) => {
                calls.push("execute");
                return preparedModel.execute(...call);
              },
              executeFenced: (...call) => {
                calls.push("executeFenced");
                return executeFenced?.(...call) ?? Promise.reject(new Error("there are fences"));
              },
              ...(canSetUp && createReusableExecution && { createReusableExecution }),
            },
          };
        },
      };
      const driver = asAidl4(counting);
      const { calls: told } = await launchTask((callback) =>
        driver.prepareModel(own, ...fast, -1n, ...noFiles, callback),
      );
      const preparedModel = told[0]?.preparedModel ?? null;
      if (!isAidl4(preparedModel)) throw new Error("expected a prepared model of AIDL 4, got another or none");
      const execution = await preparedModel.createReusableExecution(write(), config);
      expect(await execution.executeSynchronously(-1n)).toMatchObject({ outputSufficientSize: true });
      const { syncFence, callback } = await execution.executeFenced([], -1n, -1n);
      await syncFence?.wait();
      expect(await callback.getExecutionInfo()).toMatchObject({ status: ErrorStatus.NONE });
      expect(calls).toEqual(canSetUp ? [] : ["execute", "executeFenced"]);
      execution.close?.();
    }
  });

  it("refuses a request that is not valid when a reusable execution is created", async () => {
    const own = await prepare();
    await expect(own.createReusableExecution({ ...write(), inputs: [] }, config)).rejects.toEqual(
      refusedWith(INVALID_ARGUMENT),
    );
  });

  it("reports the end of a fenced execution by value", async () => {
    const own = await prepare();
    const { callback, syncFence } = await own.executeFencedWithConfig(write(), [], config, -1n, -1n);
    await syncFence?.wait();
    await expect(callback.getExecutionInfo()).resolves.toEqual({
      status: ErrorStatus.NONE,
      timingLaunched: { timeOnDeviceNs: -1n, timeInDriverNs: -1n },
      timingFenced: { timeOnDeviceNs: -1n, timeInDriverNs: -1n },
    });
  });
});

describe("a driver of AIDL as a device", () => {
  const faces = { aidl1: asAidl1, aidl2: asAidl2, aidl3: asAidl3, aidl4: asAidl4 } as const;

  it.each(aidlVersions)("of %s has the facts and the results of the device behind it", async (version) => {
    const device = await reference();
    const lifted = liftDevice("lifted", faces[version](device));
    expect(lifted.halVersion).toBe(version);
    expect(lifted.getVersionString()).toEqual(device.getVersionString());
    expect(lifted.getType()).toEqual(device.getType());
    const { preparedModel } = await lifted.prepareModel(model);
    const output = new Uint8Array(8);
    const request = requestOf(new Uint8Array(new Float32Array([1.5, -1.5]).buffer), output);
    expect(await preparedModel?.execute(request)).toMatchObject({ status: ErrorStatus.NONE });
    expect([...new Float32Array(output.buffer)]).toEqual([1, -2]);
    expect(preparedModel?.createReusableExecution !== undefined).toBe(version === "aidl4");
    const { execution } = (await preparedModel?.createReusableExecution?.(request)) ?? {};
    output.fill(0);
    if (execution) expect(await execution.execute()).toMatchObject({ status: ErrorStatus.NONE });
    if (execution) expect([...new Float32Array(output.buffer)]).toEqual([1, -2]);
  });

  it.each([
    [new ServiceSpecificException(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT), ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT],
    [new ServiceSpecificException(ErrorStatus.NONE), GENERAL_FAILURE],
    [new DeadObjectException(), ErrorStatus.DEVICE_UNAVAILABLE],
    [new Error("other"), GENERAL_FAILURE],
  ])("turns %s into status %s", async (error, status) => {
    const driver: AIDL1.IDevice = {
      ...asAidl1(await reference()),
      getCapabilities() {
        throw error;
      },
      prepareModel() {
        throw error;
      },
    };
    const lifted = liftDevice("lifted", driver);
    expect(lifted.getCapabilities().status).toBe(status);
    expect((await lifted.prepareModel(model)).status).toBe(status);
  });

  it("has a version from 1 on; a later one than 4 is called as 4", async () => {
    const driver = asAidl4(await reference());
    expect(() => liftDevice("lifted", { ...driver, getInterfaceVersion: () => 0 })).toThrow(RangeError);
    expect(liftDevice("lifted", { ...driver, getInterfaceVersion: () => 5 }).halVersion).toBe("aidl4");
  });

  it("fails if it does not answer about operations with booleans", async () => {
    const driver = asAidl4(await reference());
    const count = model.main.operations.length;
    for (const answer of [new Array(count).fill(1), 5, undefined]) {
      const lifted = liftDevice("lifted", { ...driver, getSupportedOperations: () => answer as never });
      expect(await lifted.getSupportedOperations(model)).toMatchObject({ status: GENERAL_FAILURE, supported: [] });
    }
  });

  it("does not get what it cannot express", async () => {
    const lifted = liftDevice("lifted", asAidl1(await reference()));
    const wide = { ...model, extensionNameToPrefix: [{ name: "com.example", prefix: 0x8000 }] };
    expect(await lifted.prepareModel(wide)).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
  });
});
