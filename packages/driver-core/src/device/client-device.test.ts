/**
 * Several clients of one device: they share the engine and take turns, and know nothing of each other's objects. The objects of
 * a client end with it.
 */
import type { Executable, RunResult } from "@nnhal/backend";
import { collectAll, collectUntil } from "@nnhal/test-kit/garbage";
import { DeviceStatus, ErrorStatus, type Memory, type PreparedModel } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { createBurst } from "../burst/controller.ts";
import { bufferFor, floats, prepareOn, reluModel, requestFor } from "../domains/relu-model.test-helper.ts";
import { createFence } from "../fence/fence.ts";
import { allocateMemory } from "../memory/memory.ts";
import type { DeviceOptions } from "./device.ts";
import { absModel, absRequest, fakeBackend, succeeding } from "./fake-backend.test-helper.ts";
import { openDevice } from "./index.ts";

const { NONE, INVALID_ARGUMENT, DEVICE_UNAVAILABLE } = ErrorStatus;
const values = () => floats(1, 2, 3, 4, 5, 6);
const emptyMemory = (): Memory => allocateMemory(24);

/** A device over a backend that counts closed objects. */
async function open(run: Executable["run"] = succeeding.run, options: Partial<DeviceOptions> = {}) {
  const closed = { executables: 0, sessions: 0 };
  const compile = async (): Promise<Executable> => ({
    ...succeeding,
    run,
    close() {
      closed.executables++;
    },
  });
  const close = async () => {
    closed.sessions++;
  };
  const device = await openDevice({ backend: fakeBackend({ compile, close }), ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, closed };
}

/** A run that the test ends. */
function heldRun() {
  const running: (() => void)[] = [];
  const run: Executable["run"] = (_inputs, outputs) =>
    new Promise<RunResult>((resolve) => {
      const outputShapes = outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true }));
      running.push(() => resolve({ status: NONE, outputShapes }));
    });
  return { run, running };
}

async function burstOf(model: PreparedModel) {
  const { configureExecutionBurst } = model;
  if (configureExecutionBurst === undefined) throw new Error("the model has no bursts");
  const { burst, message } = await createBurst(configureExecutionBurst);
  if (burst === null) throw new Error(message);
  return burst;
}

describe("clients of one device", () => {
  it("see the same device", async () => {
    const { device } = await open();
    const other = device.connect();
    expect(other.name).toBe(device.name);
    expect(other.getVersionString()).toEqual(device.getVersionString());
    expect(other.getStatus()).toBe(DeviceStatus.AVAILABLE);
    expect(other).not.toHaveProperty("connect");
  });

  it("have buffers and tokens of their own", async () => {
    const { device } = await open();
    const other = device.connect();
    const model = await prepareOn(device, reluModel());
    const others = await prepareOn(other, reluModel());
    const { token } = await bufferFor(device, model, [0], []);
    const execute = (by: PreparedModel) => by.execute(requestFor([token], [emptyMemory()]));
    const message = `request pool 0: token ${token} is not a buffer of this client`;
    await expect(execute(others)).resolves.toMatchObject({ status: INVALID_ARGUMENT, message });
    // Its owner's execution gets as far as to find that there is no value.
    expect((await execute(model)).message).toContain("has no value");
    // The same number is the other's own buffer from here on, and has nothing to do with the first.
    const own = await bufferFor(other, others, [0], []);
    expect(own.token).toBe(token);
    await own.buffer.copyFrom(values(), []);
    expect((await execute(others)).status).toBe(NONE);
    expect((await execute(model)).message).toContain("has no value");
  });

  it("cannot allocate for one another's prepared models", async () => {
    const { device } = await open();
    const model = await prepareOn(device, reluModel());
    const roles = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
    const allocated = await device.connect().allocate({ dimensions: [] }, [model], roles, []);
    expect(allocated).toMatchObject({ status: INVALID_ARGUMENT, buffer: null, token: 0 });
    await expect(device.allocate({ dimensions: [] }, [model], roles, [])).resolves.toMatchObject({ status: NONE });
  });

  it("have bursts that know no token and no memory of another", async () => {
    const { device } = await open();
    const other = device.connect();
    const memory = values();
    const first = await burstOf(await prepareOn(device, reluModel()));
    const second = await burstOf(await prepareOn(other, reluModel()));
    const request = requestFor([memory], [emptyMemory()]);
    expect((await first.compute(request)).status).toBe(NONE);
    // Slot 0 is another memory to each of them.
    expect((await second.compute(requestFor([emptyMemory()], [memory]))).status).toBe(NONE);
    await other.close();
    expect((await first.compute(request)).status).toBe(NONE);
    await expect(second.compute(request)).resolves.toMatchObject({ fallback: true });
    await device.close();
  });

  it("take turns", async () => {
    const { run, running } = heldRun();
    const { device } = await open(run, { concurrency: 1 });
    const ended: string[] = [];
    const execute = (name: string, model: PreparedModel) =>
      model.execute(absRequest().request).then(() => ended.push(name));
    const first = await prepareOn(device, absModel);
    const second = await prepareOn(device.connect(), absModel);
    const pending = [first, first, first, second, second].map((model) =>
      execute(model === first ? "first" : "second", model),
    );
    for (let turn = 0; turn < pending.length; turn++) {
      await vi.waitUntil(() => running.length > 0);
      running.shift()?.();
    }
    await Promise.all(pending);
    expect(ended).toEqual(["first", "first", "second", "first", "second"]);
  });
});

describe("closing a client", () => {
  it("frees its prepared models, buffers and tokens, and none of another's", async () => {
    const { device, closed } = await open();
    const other = device.connect();
    const model = await prepareOn(other, reluModel());
    const { buffer } = await bufferFor(other, model, [0], []);
    await prepareOn(other, reluModel());
    const kept = await prepareOn(device, reluModel());
    await other.close();
    expect(closed).toEqual({ executables: 2, sessions: 0 });
    const gone = { status: DEVICE_UNAVAILABLE, message: "the client is closed" };
    await expect(model.execute(requestFor([values()], [emptyMemory()]))).resolves.toMatchObject(gone);
    await expect(model.executeFenced?.(requestFor([values()], [emptyMemory()]), [])).resolves.toMatchObject(gone);
    await expect(burstOf(model)).rejects.toThrow("the client is closed");
    await expect(buffer.copyTo(emptyMemory())).resolves.toEqual(gone);
    await expect(buffer.copyFrom(emptyMemory(), [])).resolves.toEqual(gone);
    buffer.close?.();
    await expect(kept.execute(requestFor([values()], [emptyMemory()]))).resolves.toMatchObject({ status: NONE });
    await other.close();
    expect(closed.executables).toBe(2);
  });

  it("refuses what is asked for afterwards", async () => {
    const { device } = await open();
    const other = device.connect();
    await other.close();
    const gone = { status: DEVICE_UNAVAILABLE, message: "the client is closed" };
    const cache = { modelCache: [], dataCache: [], token: new Uint8Array(32) };
    await expect(other.prepareModel(absModel)).resolves.toEqual({ ...gone, preparedModel: null });
    await expect(other.prepareModelFromCache(cache)).resolves.toEqual({ ...gone, preparedModel: null });
    await expect(other.allocate({ dimensions: [] }, [], [], [])).resolves.toEqual({ ...gone, buffer: null, token: 0 });
    expect(other.getSupportedOperations(absModel)).toEqual({ ...gone, supported: [], reasons: [] });
    expect(other.getCapabilities()).toMatchObject(gone);
    expect(other.getType()).toMatchObject(gone);
    expect(other.getVersionString()).toMatchObject(gone);
    expect(other.getSupportedExtensions()).toMatchObject(gone);
    expect(other.getNumberOfCacheFilesNeeded()).toMatchObject(gone);
    expect(other.getStatus()).toBe(DeviceStatus.OFFLINE);
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
  });

  it("lets what runs end, ends what waits for a turn, and then is through", async () => {
    const { run, running } = heldRun();
    const { device, closed } = await open(run, { concurrency: 1 });
    const other = device.connect();
    const model = await prepareOn(other, absModel);
    const kept = await prepareOn(device, absModel);
    const [first, second] = [1, 2].map(() => model.execute(absRequest().request));
    const others = kept.execute(absRequest().request);
    let isThrough = false;
    const through = other.close().then(() => {
      isThrough = true;
    });
    await expect(second).resolves.toMatchObject({
      status: DEVICE_UNAVAILABLE,
      message: "the client is closed",
    });
    expect([isThrough, closed.executables]).toEqual([false, 0]);
    running.shift()?.();
    await expect(first).resolves.toMatchObject({ status: NONE });
    await through;
    expect(closed.executables).toBe(1);
    await vi.waitUntil(() => running.length > 0);
    running.shift()?.();
    await expect(others).resolves.toMatchObject({ status: NONE });
  });

  it("ends executions that wait for a fence", async () => {
    const { device } = await open();
    const other = device.connect();
    const model = await prepareOn(other, absModel);
    const launched = await model.executeFenced?.(absRequest().request, [createFence().fence]);
    expect(launched?.status).toBe(NONE);
    await other.close();
    expect(launched?.syncFence?.state).toBe("ERROR");
    await expect(launched?.callback?.getExecutionInfo()).resolves.toMatchObject({ status: DEVICE_UNAVAILABLE });
  });

  it("ends a running preparation, and frees its result", async () => {
    const { device, closed } = await open();
    const other = device.connect();
    const preparing = other.prepareModel(absModel);
    await other.close();
    await expect(preparing).resolves.toMatchObject({ status: DEVICE_UNAVAILABLE, preparedModel: null });
    expect(closed.executables).toBe(1);
  });
});

describe("closing a device", () => {
  it("closes all clients, and then the backend, once", async () => {
    const { device, closed } = await open();
    const other = device.connect();
    await prepareOn(other, absModel);
    await prepareOn(device, absModel);
    await device.connect().close();
    await Promise.all([device.close(), device.close()]);
    expect(closed).toEqual({ executables: 2, sessions: 1 });
    const late = device.connect();
    for (const client of [device, other, late]) {
      await expect(client.prepareModel(absModel)).resolves.toMatchObject({ status: DEVICE_UNAVAILABLE });
    }
  });
});

describe("a prepared model without references", () => {
  it("is freed, and is not while any of its methods is held", async () => {
    const { device, closed } = await open();
    let execute: PreparedModel["execute"] | undefined = await (async () => {
      const model = await prepareOn(device, absModel);
      return { ...model }.execute;
    })();
    await collectAll();
    expect(closed.executables).toBe(0);
    await expect(execute(absRequest().request)).resolves.toMatchObject({ status: NONE });
    execute = undefined;
    await collectUntil(() => closed.executables > 0);
    expect(closed.executables).toBe(1);
  });
});
