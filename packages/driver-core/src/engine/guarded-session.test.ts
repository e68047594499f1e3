/** Backends that throw, return wrong answers or never answer: how a device handles them. */
import type { Backend, BackendSession, Executable } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { manualClock } from "@nnhal/test-kit/clock";
import { type Capabilities, DeviceStatus, DeviceType, ErrorStatus } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { openDevice } from "../device/device.ts";
import {
  absModel,
  absRequest,
  capabilities,
  fakeBackend,
  fakeSession,
  succeeding,
} from "../device/fake-backend.test-helper.ts";
import { compiling, never, open, settle, throws } from "../device/guarded-device.test-helper.ts";
import { prepareOn } from "../domains/relu-model.test-helper.ts";
import { createClient } from "./client.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, DEVICE_UNAVAILABLE } = ErrorStatus;
const { MISSED_DEADLINE_TRANSIENT, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;

describe("opening a backend", () => {
  const opening = async (open: () => unknown) =>
    openDevice({ backend: { ...fakeBackend(), open: open as Backend["open"] } });
  const changed = (change: object) => opening(async () => ({ ...(await fakeBackend().open()), ...change }));

  it.each<[string, () => unknown, string]>([
    ["throws", throws, "opening the backend: it threw: on fire"],
    ["rejects", () => Promise.reject(new Error("on fire")), "opening the backend: it threw: on fire"],
    ["rejects with what cannot be read", () => Promise.reject(Object.create(null)), "an error that cannot be read"],
    ["gives nothing", () => undefined, "opening the backend: expected a session, got undefined"],
    ["gives null", async () => null, "opening the backend: expected a session, got null"],
    ["gives a number", async () => 5, "opening the backend: expected a session, got 5"],
    ["gives no reason", async () => ({ unavailable: 5 }), "the backend gives 5 as the reason"],
  ])("that %s is unavailable", async (_what, open, reason) => {
    await expect(opening(open)).resolves.toEqual({ unavailable: expect.stringContaining(reason) });
  });

  it.each([null, undefined, 5, {}, { open: 5 }])("that is %s is unavailable", async (backend) => {
    const result = await openDevice({ backend: backend as never });
    expect(result).toEqual({
      unavailable: expect.stringContaining("expected an object with the function open, got "),
    });
  });

  const getter = (name: string) =>
    Object.defineProperty({ ...sessionFields() }, name, { get: throws, enumerable: true });
  it.each([
    "version",
    "capabilities",
    "deviceType",
    "concurrency",
    "lost",
    "supports",
    "compile",
    "restore",
    "allocate",
  ])("whose %s throws is unavailable", async (name) => {
    await expect(opening(async () => getter(name))).resolves.toEqual({
      unavailable: "the backend cannot be used: on fire",
    });
  });

  it.each<[string, object, string]>([
    ["no version", { version: "" }, 'its version: expected a string that is not empty, got ""'],
    ["a version that is not a string", { version: 5 }, "its version: expected a string that is not empty, got 5"],
    ["no capabilities", { capabilities: undefined }, "its capabilities are not valid: capabilities:"],
    [
      "broken capabilities",
      { capabilities: { ...capabilities, ifPerformance: { execTime: 0, powerUsage: 1 } } },
      "ifPerformance",
    ],
    ["an unknown type", { deviceType: 77 }, "its deviceType is 77"],
    ["a concurrency of 0", { concurrency: 0 }, "its concurrency: expected an integer >= 1, got 0"],
    ["a concurrency of NaN", { concurrency: Number.NaN }, "its concurrency: expected an integer >= 1, got NaN"],
    ["a lost that is not a promise", { lost: "no" }, 'its lost: expected a promise, got "no"'],
    ["no supports", { supports: undefined }, "its supports: expected a function, got undefined"],
    ["no compile", { compile: 5 }, "its compile: expected a function, got 5"],
    ["no close", { close: null }, "its close: expected a function, got null"],
    ["a restore that is not a function", { restore: 5 }, "its restore: expected a function or nothing, got 5"],
  ])("with %s is unavailable, and closed", async (_what, change, reason) => {
    const close = vi.fn(async () => {});
    await expect(changed({ close, ...change })).resolves.toEqual({ unavailable: expect.stringContaining(reason) });
    expect(close).toHaveBeenCalledTimes("close" in change ? 0 : 1);
  });

  it("reads what it says of itself once", async () => {
    let reads = 0;
    const makeChanging = (values: readonly unknown[]) => ({
      enumerable: true,
      get: () => values[Math.min(reads++, values.length - 1)],
    });
    const session = Object.defineProperty({ ...sessionFields() }, "version", makeChanging(["one", throws]));
    const device = await opening(async () => session);
    if ("unavailable" in device) throw new Error(device.unavailable);
    expect([device.getVersionString().version, device.getVersionString().version, reads]).toEqual(["one", "one", 1]);
  });

  it("keeps capabilities that the backend changes later as they were", async () => {
    const own: Capabilities = structuredClone(capabilities);
    const device = await changed({ capabilities: own });
    if ("unavailable" in device) throw new Error(device.unavailable);
    Object.assign(own, { ifPerformance: null });
    expect(device.getCapabilities()).toEqual({ status: NONE, capabilities });
  });

  it("that does not end is unavailable after a time, and closed if it opens later", async () => {
    const clock = manualClock();
    const close = vi.fn(async () => {});
    let finish: (session: BackendSession) => void = () => {};
    const backend = { ...fakeBackend(), open: () => new Promise<BackendSession>((resolve) => (finish = resolve)) };
    const opened = openDevice({ backend, openTimeout: 10n, now: clock.now, timer: clock.timer });
    clock.advance(9n);
    await settle();
    expect(clock.waiting).toBe(1);
    clock.advance(1n);
    await expect(opened).resolves.toEqual({ unavailable: "the backend has not opened in 10 ns" });
    finish({ ...sessionFields(), close });
    await settle();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it("whose options no device can have is closed again", async () => {
    const close = vi.fn(async () => {});
    await expect(openDevice({ backend: fakeBackend({ close }), concurrency: 0 })).rejects.toThrow(RangeError);
    expect(close).toHaveBeenCalledTimes(1);
  });
});

function sessionFields(): BackendSession {
  return {
    version: "fake-1",
    capabilities,
    supports: () => ({ supported: true }),
    compile: async () => succeeding,
    close: async () => {},
  };
}

describe("what a backend says of operations", () => {
  it.each<[string, () => never, string]>([
    ["throws", throws, "ABS: the backend threw: on fire"],
    ["is nothing", (() => undefined) as () => never, "ABS: expected a Support from the backend, got undefined"],
    ["is null", (() => null) as () => never, "ABS: expected a Support from the backend, got null"],
    ["is a boolean", (() => true) as () => never, "ABS: expected a Support from the backend, got true"],
    [
      "is neither",
      (() => ({ supported: 1 })) as () => never,
      "ABS: expected a Support from the backend, got an object",
    ],
    [
      "has no reason",
      (() => ({ supported: false })) as () => never,
      "ABS: expected a Support from the backend, got an object",
    ],
  ])("counts as not supported if it %s, with the reason, and is logged once", async (_what, supports, reason) => {
    const { device, errors } = await open({ supports });
    const unsupported = { status: NONE, supported: [false], reasons: [expect.stringContaining(reason)] };
    expect(device.getSupportedOperations(absModel)).toEqual(unsupported);
    const { status, message, preparedModel } = await device.prepareModel(absModel);
    expect([status, preparedModel]).toEqual([INVALID_ARGUMENT, null]);
    expect(message).toContain(reason);
    expect(errors).toEqual([expect.stringContaining(`nnhal-fake: ${reason}`)]);
  });

  it.each([0, -1, 0.5, Number.NaN, "2"])("counts one dispatch for dispatches of %s", async (dispatches) => {
    const { device } = await open({ supports: () => ({ supported: true, dispatches: dispatches as number }) });
    expect(device.getSupportedOperations(absModel)).toEqual({ status: NONE, supported: [true], reasons: [undefined] });
  });
});

describe("compiling", () => {
  it.each<[string, unknown]>([
    ["throws", throws],
    ["rejects", () => Promise.reject(new Error("on fire"))],
  ])("that %s is a failure with the reason", async (_what, compile) => {
    const { device } = await open({ compile: compile as BackendSession["compile"] });
    await expect(device.prepareModel(absModel)).resolves.toEqual({
      status: GENERAL_FAILURE,
      message: "preparing the model: on fire",
      preparedModel: null,
    });
  });

  it.each([undefined, null, 5, {}, { run() {} }])("to %s is a failure", async (made) => {
    const { device, errors } = await open({ compile: async () => made as never });
    const { status, message } = await device.prepareModel(absModel);
    expect(status).toBe(GENERAL_FAILURE);
    expect(message).toContain("expected an executable from the backend");
    expect(errors).toHaveLength(1);
  });

  it("that does not end is missed at the deadline, not before, and what comes later is closed", async () => {
    let finish: (executable: Executable) => void = () => {};
    const compile = () => new Promise<Executable>((resolve) => (finish = resolve));
    const { device, clock } = await open({ compile });
    let isSettled = false;
    const preparing = device.prepareModel(absModel, { deadline: 1100n }).finally(() => (isSettled = true));
    await settle();
    clock.advance(99n);
    await settle();
    expect(isSettled).toBe(false);
    clock.advance(1n);
    await expect(preparing).resolves.toEqual({
      status: MISSED_DEADLINE_TRANSIENT,
      message: "the deadline passed while the model was prepared",
      preparedModel: null,
    });
    const close = vi.fn();
    finish({ ...succeeding, close });
    await settle();
    expect([close.mock.calls.length, clock.waiting]).toEqual([1, 0]);
  });

  it("is refused when as many preparations as the client may have do not end", async () => {
    const { device } = await open({ compile: () => never }, { limits: { waitingPerClient: 2 } });
    const pending = [device.prepareModel(absModel), device.prepareModel(absModel)];
    await settle();
    expect(device.getStatus()).toBe(DeviceStatus.BUSY);
    expect(device.connect().getStatus()).toBe(DeviceStatus.AVAILABLE);
    await expect(device.prepareModel(absModel)).resolves.toMatchObject({
      status: RESOURCE_EXHAUSTED_TRANSIENT,
      preparedModel: null,
    });
    expect(pending).toHaveLength(2);
  });
});

describe("an engine that is lost", () => {
  function makeLosing(change: Partial<BackendSession> = {}) {
    let lose: (reason: string) => void = () => {};
    const lost = new Promise<string>((resolve) => (lose = resolve));
    return { session: { lost, ...change }, lose: (reason: string) => lose(reason) };
  }
  const gone = { status: DEVICE_UNAVAILABLE, message: "the engine is lost: unplugged" };

  it("ends running, waiting and preparing work, and closes every client with the reason", async () => {
    let compiles = 0;
    const { session, lose } = makeLosing({
      compile: async () => (compiles++ < 2 ? { ...succeeding, run: () => never } : never),
    });
    const { device, errors } = await open(session, { concurrency: 1 });
    const other = device.connect();
    const models = [await prepareOn(device, absModel), await prepareOn(other, absModel)];
    const under = models.flatMap((model) => [model.execute(absRequest().request), model.execute(absRequest().request)]);
    const preparing = other.prepareModel(absModel);
    await settle();
    lose("unplugged");
    for (const result of await Promise.all(under)) expect(result).toMatchObject(gone);
    await expect(preparing).resolves.toEqual({ ...gone, preparedModel: null });
    for (const client of [device, other, device.connect()]) {
      expect(client.getStatus()).toBe(DeviceStatus.OFFLINE);
      expect(client.getSupportedOperations(absModel)).toEqual({ ...gone, supported: [], reasons: [] });
      await expect(client.prepareModel(absModel)).resolves.toEqual({ ...gone, preparedModel: null });
      await expect(client.allocate({ dimensions: [] }, [], [], [])).resolves.toMatchObject(gone);
    }
    await expect(elementAt(models, 0).execute(absRequest().request)).resolves.toMatchObject(gone);
    expect(errors).toEqual(["nnhal-fake: the engine is lost: unplugged"]);
  });

  it("is lost as well if the promise rejects", async () => {
    const lost = Promise.reject(new Error("unplugged"));
    const { device } = await open({ lost });
    await settle();
    await expect(device.prepareModel(absModel)).resolves.toMatchObject(gone);
  });

  it("closes", async () => {
    const { session, lose } = makeLosing();
    const close = vi.fn(async () => {});
    const { device } = await open({ ...session, close });
    lose("unplugged");
    await settle();
    await device.close();
    expect(close).toHaveBeenCalledTimes(1);
  });
});

describe("closing", () => {
  it("ends after its time if a run does not end, and answers the run", async () => {
    const close = vi.fn(async () => {});
    const closeTimeout = 100n;
    const { device, clock } = await open({ ...compiling({ run: () => never }), close }, { closeTimeout });
    const model = await prepareOn(device, absModel);
    const executing = model.execute(absRequest().request);
    await settle();
    let isClosed = false;
    const closing = device.close().then(() => (isClosed = true));
    clock.advance(99n);
    await settle();
    expect(isClosed).toBe(false);
    clock.advance(1n);
    await expect(executing).resolves.toMatchObject({
      status: DEVICE_UNAVAILABLE,
      message: "the client is closed, and the engine had not ended its work",
    });
    await settle();
    expect(close).toHaveBeenCalledTimes(0);
    // The backend gets as much time to let go of the run.
    clock.advance(100n);
    await closing;
    expect(close).toHaveBeenCalledTimes(1);
  });

  it("ends after its time if the backend does not close, or throws, and says so", async () => {
    const closeTimeout = 100n;
    const sleeping = await open({ close: () => never }, { closeTimeout });
    const closing = sleeping.device.close();
    await settle();
    sleeping.clock.advance(100n);
    await closing;
    expect(sleeping.errors).toEqual(["nnhal-fake: close: the backend has not closed in 100 ns"]);
    for (const close of [throws, () => Promise.reject(new Error("on fire"))]) {
      const { device, errors } = await open({ close });
      await device.close();
      expect(errors).toEqual(["nnhal-fake: close: the backend threw: on fire"]);
    }
  });

  it("is not kept by a preparation that does not end", async () => {
    const { device, clock } = await open({ compile: () => never }, { closeTimeout: 100n });
    const other = device.connect();
    const preparing = other.prepareModel(absModel);
    await settle();
    const closing = other.close();
    clock.advance(100n);
    await closing;
    await expect(preparing).resolves.toMatchObject({ status: DEVICE_UNAVAILABLE, preparedModel: null });
  });
});

describe("a guarded session", () => {
  it("calls the methods of a session that is an instance of a class", async () => {
    class Session {
      #version = "class-1";
      readonly version = "class-1";
      readonly capabilities = capabilities;
      supports() {
        return { supported: false as const, reason: this.#version };
      }
      async compile() {
        return succeeding;
      }
      async close() {}
    }
    const backend: Backend = { name: "class", deviceType: DeviceType.CPU, open: async () => new Session() };
    const device = await openDevice({ backend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    expect(device.getSupportedOperations(absModel).reasons).toEqual(["class-1"]);
  });

  it("returns the serialised form only if it is lists of bytes, and only in time", async () => {
    const serialise = async (serialize: Executable["serialize"]) => {
      const session = await fakeSession(compiling(serialize === undefined ? {} : { serialize }));
      const patience = {
        now: () => 0n,
        timer: manualClock().timer,
        client: createClient(),
        missed: "missed",
      };
      const graph = { operands: [], operations: [], inputs: [], outputs: [], referenced: [], relaxed: false };
      const executable = await session.make(graph, { preference: 1, priority: 1 }, undefined, {
        ...patience,
        deadline: undefined,
      });
      if ("status" in executable) throw new Error(executable.message);
      return executable.serialize({ ...patience, deadline: serialize === makeHanging ? 0n : undefined });
    };
    const makeHanging = () => never;
    const bytes = [Uint8Array.of(1)];
    await expect(serialise(undefined)).resolves.toBeUndefined();
    await expect(serialise(() => ({ model: bytes, data: [] }))).resolves.toEqual({ model: bytes, data: [] });
    await expect(serialise(throws)).resolves.toEqual({ status: GENERAL_FAILURE, message: "on fire" });
    for (const wrong of [null, {}, { model: bytes }, { model: [[1]], data: [] }]) {
      await expect(serialise(() => wrong as never)).resolves.toMatchObject({ status: GENERAL_FAILURE });
    }
    await expect(serialise(makeHanging)).resolves.toEqual({ status: MISSED_DEADLINE_TRANSIENT, message: "missed" });
  });

  it("logs at most a hundred distinct breaches", async () => {
    let count = 0;
    const { device, errors } = await open({
      supports: () => {
        throw new Error(`fault ${count++}`);
      },
    });
    for (let call = 0; call < 150; call++) device.getSupportedOperations(absModel);
    expect(errors).toHaveLength(100);
  });
});
