import { createFence } from "@nnhal/driver-core/fence";
import { allocateBlob, allocateMemory, mapMemory, memoryOf } from "@nnhal/driver-core/memory";
import { addModel } from "@nnhal/test-kit/models";
import {
  DeviceStatus,
  ErrorStatus,
  type IFencedExecutionCallback,
  MeasureTiming,
  type Memory,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { addRequest, connectEnds, pairs, prepare, reference } from "./ends.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});

function valuesOf(memory: Memory): Float32Array {
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

const memories: readonly (readonly [string, () => Memory])[] = [
  ["shared memory", () => allocateMemory(24)],
  ["a BLOB", () => allocateBlob(24)],
  ["an ArrayBuffer", () => memoryOf(new Uint8Array(24))],
];

describe.each(pairs)("over a channel of kind %s", (_, pair, passing) => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });
  const open = async (options: Parameters<typeof connectEnds>[2] = {}) => {
    const both = await connectEnds(device, pair, { passing, ...options });
    ends.push(() => both.remote.close());
    return both;
  };

  it("a device has the facts of the one that is served", async () => {
    const { remote } = await open();
    expect([remote.name, remote.halVersion]).toEqual(["nnhal-served", "aidl4"]);
    for (const fact of ["getCapabilities", "getType", "getVersionString", "getSupportedExtensions"] as const) {
      expect(remote[fact]()).toEqual(device[fact]());
    }
    expect(remote.getStatus()).toBe(DeviceStatus.AVAILABLE);
    expect(await remote.getSupportedOperations(addModel([2]))).toEqual(device.getSupportedOperations(addModel([2])));
  });

  it.each(memories)("executes a request in %s", async (_kind, allocate) => {
    const { remote } = await open();
    const model = await prepare(remote, addModel([2]));
    const memory = allocate();
    const values = valuesOf(memory);
    values.set([1, 2, 10, 20]);
    expect(await model.execute(addRequest(memory), { measure: MeasureTiming.YES })).toEqual({
      status: NONE,
      outputShapes: [{ dimensions: [2], isSufficient: true }],
      timing: { timeOnDevice: expect.any(BigInt), timeInDriver: expect.any(BigInt) },
    });
    expect([...values]).toEqual([1, 2, 10, 20, 11, 22]);
    values.set([3, 4]);
    expect((await model.execute(addRequest(memory))).timing.timeOnDevice).toBe(TIMING_NOT_MEASURED);
    expect([...values]).toEqual([3, 4, 10, 20, 13, 24]);
  });

  it.each(memories)("executes a request in %s after a fence", async (_kind, allocate) => {
    const { remote } = await open();
    const model = await prepare(remote, addModel([2]));
    const memory = allocate();
    const values = valuesOf(memory);
    values.set([1, 2, 10, 20]);
    const source = createFence();
    const launched = await model.executeFenced?.(addRequest(memory), [source.fence], { measure: MeasureTiming.YES });
    expect(launched).toMatchObject({ status: NONE, syncFence: { state: "ACTIVE" } });
    expect((await launched?.callback?.getExecutionInfo())?.status).toBe(GENERAL_FAILURE);
    source.signal();
    expect(await launched?.syncFence?.wait()).toBe("SIGNALED");
    expect([...values]).toEqual([1, 2, 10, 20, 11, 22]);
    expect(await launched?.callback?.getExecutionInfo()).toMatchObject({ status: NONE });
  });

  it("keeps the answers of old fenced executions on this side, so that the server need not", async () => {
    const { remote, served } = await open({ limits: { objects: 300 } });
    const model = await prepare(remote, addModel([2]));
    const memory = allocateMemory(24);
    const callbacks: (IFencedExecutionCallback | null | undefined)[] = [];
    for (let count = 0; count < 400; count++) {
      const launched = await model.executeFenced?.(addRequest(memory), [], { measure: MeasureTiming.YES });
      expect(launched).toMatchObject({ status: NONE });
      await launched?.syncFence?.wait();
      callbacks.push(launched?.callback);
    }
    expect(served.usage().objects).toBeLessThan(300);
    for (const at of [0, 399]) {
      expect(await callbacks[at]?.getExecutionInfo()).toMatchObject({ status: NONE });
    }
    remote.close();
  });

  it("puts the fence of an execution in state ERROR when one that it waits for fails", async () => {
    const { remote } = await open();
    const model = await prepare(remote, addModel([2]));
    const source = createFence();
    const launched = await model.executeFenced?.(addRequest(allocateMemory(24)), [source.fence]);
    source.fail();
    expect(await launched?.syncFence?.wait()).toBe("ERROR");
    expect((await launched?.callback?.getExecutionInfo())?.status).toBe(GENERAL_FAILURE);
    const failed = await model.executeFenced?.(addRequest(allocateMemory(24)), [source.fence]);
    expect(failed).toMatchObject({ status: INVALID_ARGUMENT, syncFence: null, callback: null });
  });

  it("copies to and from a buffer of the device", async () => {
    const { remote, served } = await open();
    const model = await prepare(remote, addModel([2]));
    const role = { modelIndex: 0, ioIndex: 0, frequency: 1 };
    const allocated = await remote.allocate?.({ dimensions: [] }, [model], [role], []);
    expect(allocated).toMatchObject({ status: NONE, token: expect.any(Number) });
    for (const allocate of [() => allocateMemory(8), () => memoryOf(new Uint8Array(8))]) {
      const [from, to] = [allocate(), allocate()];
      valuesOf(from).set([5, 6]);
      expect(await allocated?.buffer?.copyFrom(from, [])).toEqual({ status: NONE });
      expect(await allocated?.buffer?.copyTo(to)).toEqual({ status: NONE });
      expect([...valuesOf(to)]).toEqual([5, 6]);
    }
    const memory = allocateMemory(24);
    valuesOf(memory).set([0, 0, 10, 20]);
    const { inputs, outputs, pools } = addRequest(memory);
    const [first, ...others] = inputs;
    if (first === undefined) throw new Error("no input");
    const location = { poolIndex: 1, offset: 0, length: 0 };
    const token = { kind: "token", token: allocated?.token ?? 0 } as const;
    const request = { inputs: [{ ...first, location }, ...others], outputs, pools: [...pools, token] };
    expect((await model.execute(request)).status).toBe(NONE);
    expect([...valuesOf(memory)]).toEqual([0, 0, 10, 20, 15, 26]);
    expect(served.usage().objects).toBe(2);
    allocated?.buffer?.close?.();
    model.close();
    await expect.poll(() => served.usage().objects).toBe(0);
  });

  it("returns the refusals of the device", async () => {
    const { remote } = await open();
    const model = addModel([2]);
    const wrong = { ...model, main: { ...model.main, inputIndexes: [] } };
    const local = device.getSupportedOperations(wrong);
    expect(await remote.getSupportedOperations(wrong)).toEqual(local);
    expect((await remote.prepareModel(wrong)).status).toBe(INVALID_ARGUMENT);
    const ready = await prepare(remote, model);
    expect((await ready.execute(addRequest({ ...allocateMemory(24), handle: null }))).status).toBe(INVALID_ARGUMENT);
    expect((await ready.execute(addRequest({ ...allocateMemory(24), name: "ion" }))).status).toBe(INVALID_ARGUMENT);
    ready.close();
    expect((await ready.execute(addRequest(allocateMemory(24)))).status).toBe(INVALID_ARGUMENT);
  });

  it("refuses arguments that are not of their type, and throws nothing", async () => {
    const { remote } = await open();
    const nothing = JSON.parse("null");
    expect(await remote.getSupportedOperations(nothing)).toMatchObject({ status: INVALID_ARGUMENT, supported: [] });
    expect(await remote.prepareModel(nothing)).toMatchObject({ status: INVALID_ARGUMENT, preparedModel: null });
    const model = await prepare(remote, addModel([2]));
    for (const request of [nothing, {}, { inputs: [], outputs: [], pools: [nothing] }]) {
      expect(await model.execute(request)).toMatchObject({ status: INVALID_ARGUMENT, outputShapes: [] });
    }
    const fenced = await model.executeFenced?.(addRequest(allocateMemory(24)), nothing);
    expect(fenced).toMatchObject({ status: INVALID_ARGUMENT, syncFence: null, callback: null });
  });

  it("answers DEVICE_UNAVAILABLE once a side has closed the connection, and frees what the client had", async () => {
    for (const side of ["client", "server"] as const) {
      const { remote, served } = await open();
      const model = await prepare(remote, addModel([2]));
      if (side === "client") remote.close();
      else await served.close();
      await served.ended;
      expect(served.usage()).toEqual({ objects: 0, copiedBytes: 0 });
      expect(await remote.lost).toEqual(expect.any(String));
      expect(remote.getStatus()).toBe(DeviceStatus.OFFLINE);
      const gone = { status: ErrorStatus.DEVICE_UNAVAILABLE, message: expect.stringContaining("DEAD_OBJECT") };
      expect(await model.execute(addRequest(allocateMemory(24)))).toMatchObject(gone);
      expect(await remote.prepareModel(addModel([2]))).toMatchObject(gone);
    }
  });
});
