import {
  DEVICE_TYPE_UNKNOWN,
  type Device,
  DeviceStatus,
  ErrorStatus,
  type ExecutionResult,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { type Fault, failure, faulty, type Part, unknownStatus } from "../faults.test-helper.ts";
import { addModel, float32, openReference } from "../models.test-helper.ts";
import { chain, requestOf } from "../plan/divided.test-helper.ts";
import { guardDevice } from "./device.ts";

const { NONE, GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

const ok = { status: NONE } as const;
const guarded = (part: Part, method: string, fault: Fault) => guardDevice(faulty(reference, part, method, fault));
const answers = (answer: unknown): Fault => ({ answers: answer });
const queries = [
  "getCapabilities",
  "getType",
  "getVersionString",
  "getSupportedExtensions",
  "getNumberOfCacheFilesNeeded",
] as const;

describe("guardDevice", () => {
  it("has one guard for a device, which is its own guard", () => {
    const guard = guardDevice(reference);
    expect(guardDevice(reference)).toBe(guard);
    expect(guardDevice(guard)).toBe(guard);
    expect(guard.own).toBe(reference);
    expect(guardDevice({ ...reference })).not.toBe(guard);
  });

  it("passes on the answers of a device that keeps the rules", async () => {
    const guard = guardDevice(reference);
    const { hal } = addModel();
    expect([guard.name, guard.halVersion, guard.flaw]).toEqual([reference.name, "aidl4", undefined]);
    for (const query of queries) expect(guard[query]()).toEqual(reference[query]());
    expect(guard.getStatus()).toBe(reference.getStatus());
    expect(await guard.getSupportedOperations(hal)).toMatchObject({ ...ok, supported: [true], reasons: [undefined] });
    expect((await guard.prepareModel(hal)).status).toBe(NONE);
  });

  it.each(queries)("%s that throws, rejects or has no status is a GENERAL_FAILURE that says so", (query) => {
    expect(guarded("device", query, "throws")[query]()).toMatchObject({
      status: GENERAL_FAILURE,
      message: `${query} threw: planted`,
    });
    for (const wrong of [undefined, null, 7, {}, unknownStatus, { status: "0" }]) {
      const { status, message } = guarded("device", query, answers(wrong))[query]();
      expect(status).toBe(GENERAL_FAILURE);
      expect(message).toMatch(`${query} answered `);
    }
    const failed = guarded("device", query, answers(failure))[query]();
    expect(failed).toMatchObject({ status: GENERAL_FAILURE, message: `${query}: failed` });
  });

  it.each<[(typeof queries)[number], unknown, string]>([
    ["getCapabilities", { ...ok }, "answered capabilities that are not valid"],
    [
      "getCapabilities",
      { ...ok, capabilities: { operandPerformance: [] } },
      "relaxedFloat32toFloat16PerformanceScalar",
    ],
    ["getType", { ...ok, type: 77 }, "answered type 77"],
    ["getType", { ...ok, type: DEVICE_TYPE_UNKNOWN }, "answered type 0"],
    ["getVersionString", { ...ok, version: "" }, 'answered version ""'],
    ["getSupportedExtensions", { ...ok, extensions: [null] }, "answered extensions that are not valid"],
    ["getNumberOfCacheFilesNeeded", { ...ok, numModelCache: 33, numDataCache: 0 }, "answered 33 model cache files"],
    ["getNumberOfCacheFilesNeeded", { ...ok, numModelCache: 0, numDataCache: -1 }, "answered -1 data cache files"],
    ["getNumberOfCacheFilesNeeded", { ...ok, numModelCache: 0.5, numDataCache: 0 }, "answered 0.5 model cache files"],
  ])("%s that answers %j is a GENERAL_FAILURE that says so", (query, answer, rule) => {
    const { status, message } = guarded("device", query, answers(answer))[query]();
    expect(status).toBe(GENERAL_FAILURE);
    expect(message).toContain(rule);
  });

  it("capabilities are read until the device has answered, and then no more", () => {
    let reads = 0;
    const device: Device = {
      ...reference,
      getCapabilities: () =>
        reads++ === 0 ? { ...reference.getCapabilities(), ...failure } : reference.getCapabilities(),
    };
    const guard = guardDevice(device);
    expect(guard.getCapabilities().status).toBe(GENERAL_FAILURE);
    expect(guard.getCapabilities()).toEqual(reference.getCapabilities());
    expect(guard.getCapabilities()).toEqual(reference.getCapabilities());
    expect(reads).toBe(2);
  });

  it("a status that cannot be had is UNKNOWN", () => {
    for (const fault of ["throws", answers("fine"), answers(99)] as const) {
      expect(guarded("device", "getStatus", fault).getStatus()).toBe(DeviceStatus.UNKNOWN);
    }
  });

  it.each<[string, unknown, string]>([
    ["too few", { ...ok, supported: [true], reasons: [] }, "1 entries"],
    ["too many", { ...ok, supported: Array(4).fill(true), reasons: [] }, "4 entries"],
    ["none", { ...ok }, "expected 3 booleans, got undefined"],
    ["texts", { ...ok, supported: ["yes", "no", "no"], reasons: [] }, "expected 3 booleans, got an array of length 3"],
    ["holes", { ...ok, supported: Array(3), reasons: [] }, "expected 3 booleans, got an array of length 3"],
    ["dispatches of no number", { ...ok, supported: [true, true, true], dispatches: [1, Number.NaN, 1] }, "dispatches"],
    ["too few dispatches", { ...ok, supported: [true, true, true], dispatches: [1] }, "dispatches"],
  ])("getSupportedOperations with %s supports nothing", async (_, answer, rule) => {
    const result = await guarded("device", "getSupportedOperations", answers(answer)).getSupportedOperations(
      chain().hal,
    );
    expect(result).toMatchObject({ status: GENERAL_FAILURE, supported: [], reasons: [] });
    expect(result.message).toContain(rule);
  });

  it("getSupportedOperations without reasons is not a fault", async () => {
    const answer = answers({ ...ok, supported: [true, false, true] });
    const result = await guarded("device", "getSupportedOperations", answer).getSupportedOperations(chain().hal);
    expect(result).toEqual({ ...ok, supported: [true, false, true], reasons: [undefined, undefined, undefined] });
  });

  it.each<[string, Fault, string]>([
    ["throws", "throws", "prepareModel threw: planted"],
    ["rejects", "rejects", "prepareModel threw: planted"],
    ["answers nothing", answers(undefined), "prepareModel answered undefined"],
    ["answers an unknown status", answers(unknownStatus), "prepareModel answered status 99"],
    ["answers NONE and no model", answers(ok), "prepareModel answered NONE without a prepared model"],
    ["answers NONE and null", answers({ ...ok, preparedModel: null }), "without a prepared model"],
    ["answers NONE and what is not a model", answers({ ...ok, preparedModel: {} }), "without a prepared model"],
  ])("prepareModel that %s is a GENERAL_FAILURE that names the fault", async (_, fault, rule) => {
    const { status, message, preparedModel } = await guarded("device", "prepareModel", fault).prepareModel(
      addModel().hal,
    );
    expect([status, preparedModel]).toEqual([GENERAL_FAILURE, null]);
    expect(message).toContain(rule);
  });

  it("prepareModelFromCache is guarded in the same way", async () => {
    for (const fault of ["throws", "rejects", answers(ok)] as const) {
      const guard = guarded("device", "prepareModelFromCache", fault);
      const answer = await guard.prepareModelFromCache?.({ modelCache: [], dataCache: [], token: new Uint8Array(32) });
      expect(answer).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
    }
  });

  it.each<[string, Partial<Record<"name" | "halVersion", unknown>>, string]>([
    ["no name", { name: undefined }, "its name: expected a text, got undefined"],
    ["an empty name", { name: "" }, 'its name: expected a text, got ""'],
    [
      "a version that there is not",
      { halVersion: "1.4" },
      'its halVersion: expected one of 1.0, 1.1, 1.2, 1.3, aidl1, aidl2, aidl3, aidl4, got "1.4"',
    ],
  ])("a device with %s cannot be used", (_, change, flaw) => {
    const device: Device = Object.assign({ ...reference }, change);
    expect(guardDevice(device).flaw).toContain(flaw);
  });

  it("a device whose name throws cannot be used, and its name is read once", () => {
    let reads = 0;
    const named: Device = Object.defineProperty({ ...reference }, "name", {
      get() {
        if (reads++ > 0) throw new Error("planted");
        return "once";
      },
    });
    expect([guardDevice(named).name, guardDevice(named).name, reads]).toEqual(["once", "once", 1]);
    const nameless = Object.defineProperty({ ...reference }, "name", {
      get() {
        throw new Error("planted");
      },
    });
    expect(guardDevice(nameless).flaw).toContain("threw: planted");
  });
});

describe("a guarded prepared model", () => {
  const timing = { timeOnDevice: 1n, timeInDriver: 2n };
  const shape = (dimensions: unknown, isSufficient: unknown = true) => ({ dimensions, isSufficient });

  /** Executes the chain, whose output has two numbers. `dimensions`: the known dimensions of the output. */
  async function execute(fault: Fault, dimensions: readonly number[] = [2], device: Partial<Device> = {}) {
    const own = { ...faulty(reference, "model", "execute", fault), ...device };
    const { preparedModel } = await guardDevice(own).prepareModel(chain(float32(...dimensions)).hal);
    if (preparedModel === null) throw new Error("not prepared");
    return preparedModel.execute(requestOf([1, 2], { room: 2 }));
  }

  it("passes on an answer that keeps the rules", async () => {
    const answer = { ...ok, outputShapes: [shape([2])], timing };
    expect(await execute(answers(Promise.resolve(answer)))).toEqual(answer);
    expect(await execute(answers(answer))).toEqual(answer);
    const short = { status: OUTPUT_INSUFFICIENT_SIZE, message: "too small", outputShapes: [shape([2], false)] };
    expect(await execute(answers(short))).toMatchObject(short);
  });

  it.each<[string, Fault, string]>([
    ["throws", "throws", "faulty: execute threw: planted"],
    ["rejects", "rejects", "faulty: execute threw: planted"],
    [
      "answers nothing",
      answers(undefined),
      "faulty: execute answered a result that is not valid: the result is undefined",
    ],
    ["answers an unknown status", answers({ ...unknownStatus, outputShapes: [] }), "the status is 99"],
    ["answers NONE without shapes", answers({ ...ok, timing }), "NONE comes with undefined where there are 1 outputs"],
    [
      "answers NONE with no shapes",
      answers({ ...ok, outputShapes: [], timing }),
      "NONE comes with 0 shapes where there are 1 outputs",
    ],
    [
      "answers too many shapes",
      answers({ ...ok, outputShapes: [shape([2]), shape([2])] }),
      "NONE comes with 2 shapes where there are 1 outputs",
    ],
    ["answers what is not a shape", answers({ ...ok, outputShapes: [null] }), "the shape of output 0 is null"],
    [
      "answers no dimensions",
      answers({ ...ok, outputShapes: [shape(undefined)] }),
      "the dimensions of output 0 are undefined",
    ],
    [
      "answers a fractional extent",
      answers({ ...ok, outputShapes: [shape([0.5])] }),
      "extent 0 of output 0: expected an integer >= 0, got 0.5",
    ],
    [
      "answers a negative extent",
      answers({ ...ok, outputShapes: [shape([-1])] }),
      "extent 0 of output 0: expected an integer >= 0, got -1",
    ],
    [
      "answers another rank",
      answers({ ...ok, outputShapes: [shape([1, 2])] }),
      "output 0 has dimensions [1, 2] where a TENSOR_FLOAT32 [2] is declared",
    ],
    [
      "answers another extent",
      answers({ ...ok, outputShapes: [shape([3])] }),
      "output 0 has dimensions [3] where a TENSOR_FLOAT32 [2] is declared",
    ],
    [
      "answers isSufficient false with NONE",
      answers({ ...ok, outputShapes: [shape([2], false)] }),
      "NONE comes with isSufficient false for output 0",
    ],
    [
      "answers no isSufficient",
      answers({ ...ok, outputShapes: [shape([2], "yes")] }),
      'isSufficient of output 0: expected a boolean, got "yes"',
    ],
    [
      "answers a size without shapes",
      answers({ status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [] }),
      "OUTPUT_INSUFFICIENT_SIZE comes with 0 shapes where there are 1 outputs",
    ],
    [
      "answers a size that is sufficient",
      answers({ status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [shape([2])] }),
      "isSufficient true for every output",
    ],
  ])("that %s has failed, and says so", async (_, fault, rule) => {
    const { status, message, outputShapes } = await execute(fault);
    expect([status, outputShapes]).toEqual([GENERAL_FAILURE, []]);
    expect(message).toContain("faulty: execute ");
    expect(message).toContain(rule);
  });

  it("may find dimensions that are not known, but not a size that no memory has", async () => {
    expect(await execute(answers({ ...ok, outputShapes: [shape([2])], timing }), [0])).toMatchObject(ok);
    const huge = await execute(answers({ ...ok, outputShapes: [shape([2 ** 30])], timing }), [0]);
    expect(huge).toMatchObject({ status: GENERAL_FAILURE });
    expect(huge.message).toContain("4294967296 bytes");
    expect(await execute(answers({ ...ok, outputShapes: [shape([2 ** 30 - 1])], timing }), [0])).toMatchObject(ok);
  });

  it("of a driver older than HAL 1.2 has the shapes that are known, and fails where they are not", async () => {
    const silent = answers({ ...ok, outputShapes: [], timing });
    for (const halVersion of ["1.0", "1.1"] as const) {
      expect(await execute(silent, [2], { halVersion })).toMatchObject({ ...ok, outputShapes: [shape([2])] });
      expect(await execute(silent, [0], { halVersion })).toMatchObject({ status: GENERAL_FAILURE });
    }
    expect(await execute(silent, [2], { halVersion: "1.2" })).toMatchObject({ status: GENERAL_FAILURE });
  });

  it("has no shapes and no durations with other statuses", async () => {
    const answer = await execute(answers({ ...failure, outputShapes: [shape([2])], timing }));
    expect(answer).toMatchObject({ ...failure, outputShapes: [] });
    expect(answer.timing).not.toEqual(timing);
  });

  it("has unknown durations instead of ones that cannot be", async () => {
    for (const wrong of [undefined, { timeOnDevice: 1, timeInDriver: 2 }, { timeOnDevice: -1n, timeInDriver: 2n }]) {
      const { status, timing: told } = await execute(answers({ ...ok, outputShapes: [shape([2])], timing: wrong }));
      expect([status, told.timeOnDevice]).toEqual([NONE, 0xffff_ffff_ffff_ffffn]);
    }
  });

  it("gives answers that stay as they are", async () => {
    const dimensions = [2];
    const answer = { ...ok, outputShapes: [{ dimensions, isSufficient: true }], timing };
    const given: ExecutionResult = await execute(answers(answer), [0]);
    dimensions[0] = 99;
    expect(given.outputShapes).toEqual([shape([2])]);
  });

  /** The chain prepared on a device with a fault, and a request for it. */
  async function prepare(part: Part, method: string, fault: Fault) {
    const { preparedModel } = await guarded(part, method, fault).prepareModel(chain().hal);
    if (preparedModel === null) throw new Error("not prepared");
    return { preparedModel, request: requestOf([1, 2], { room: 2 }) };
  }

  it.each<[Fault, string]>([
    ["throws", "executeFenced threw: planted"],
    ["rejects", "executeFenced threw: planted"],
    [answers(ok), "answered NONE without a callback"],
    [answers({ ...ok, syncFence: {}, callback: { getExecutionInfo() {} } }), "as a sync fence"],
    [answers(unknownStatus), "status 99"],
  ])("executeFenced that %s has failed, and says so", async (fault, rule) => {
    const { preparedModel, request } = await prepare("model", "executeFenced", fault);
    const result = await preparedModel.executeFenced?.(request, []);
    expect(result).toMatchObject({ status: GENERAL_FAILURE, syncFence: null, callback: null });
    expect(result?.message).toContain(rule);
  });

  it("has fences and callbacks that neither throw nor reject", async () => {
    for (const fault of ["throws", "rejects", answers("DONE"), answers("ACTIVE")] as const) {
      const own = reference;
      const fence = { state: "ACTIVE", wait: faulty(own, "device", "getStatus", fault).getStatus };
      const answer = answers({ ...ok, syncFence: fence, callback: { getExecutionInfo: fence.wait } });
      const { preparedModel, request } = await prepare("model", "executeFenced", answer);
      const result = await preparedModel.executeFenced?.(request, []);
      expect(await result?.syncFence?.wait()).toBe("UNKNOWN");
      expect(await result?.callback?.getExecutionInfo()).toMatchObject({ status: GENERAL_FAILURE });
    }
  });

  it.each<[Fault]>([
    ["throws"],
    ["rejects"],
    [answers(ok)],
    [answers(unknownStatus)],
    [answers({ ...ok, context: {} })],
  ])("configureExecutionBurst that %s has failed", async (fault) => {
    const { preparedModel } = await prepare("model", "configureExecutionBurst", fault);
    expect(await preparedModel.openBurst?.()).toMatchObject({ status: GENERAL_FAILURE, burst: null });
  });

  it("has bursts whose context neither throws nor rejects", async () => {
    for (const method of ["freeMemory", "close"]) {
      for (const fault of ["throws", "rejects"] as const) {
        const { preparedModel, request } = await prepare("context", method, fault);
        const created = await preparedModel.openBurst?.();
        expect(await created?.burst?.compute(request)).toMatchObject({ ...ok, fallback: false });
        for (const pool of request.pools) if (pool.kind === "memory") await created?.burst?.freeMemory(pool.memory);
        await created?.burst?.close();
      }
    }
  });

  it("is closed whatever the device's does", async () => {
    for (const fault of ["throws", "rejects", "sleeps"] as const) {
      const { preparedModel } = await prepare("model", "close", fault);
      expect(() => preparedModel.close()).not.toThrow();
    }
  });
});

describe("a guarded allocation", () => {
  const request = async (device: Device) => {
    const guard = guardDevice(device);
    const { preparedModel } = await guard.prepareModel(chain().hal);
    if (preparedModel === null) throw new Error("not prepared");
    return guard.allocate?.({ dimensions: [2] }, [preparedModel], [{ modelIndex: 0, ioIndex: 0, frequency: 1 }], []);
  };
  const buffer = { copyTo: async () => ok, copyFrom: async () => ok };

  it("hands the device its own prepared models", async () => {
    let made: PreparedModel | null = null;
    const device: Device = {
      ...reference,
      async prepareModel(...given) {
        const result = await reference.prepareModel(...given);
        made = result.preparedModel;
        return result;
      },
      async allocate(_desc, models) {
        expect(models).toEqual([made]);
        expect(models[0]).toBe(made);
        return { ...ok, buffer, token: 1 };
      },
    };
    expect(await request(device)).toMatchObject({ ...ok, token: 1 });
  });

  it.each<[string, Fault, string]>([
    ["throws", "throws", "allocate threw: planted"],
    ["rejects", "rejects", "allocate threw: planted"],
    ["answers no buffer", answers({ ...ok, buffer: null, token: 1 }), "NONE without a buffer"],
    ["answers what is not a buffer", answers({ ...ok, buffer: {}, token: 1 }), "NONE without a buffer"],
    ["answers token 0", answers({ ...ok, buffer, token: 0 }), "expected a token above 0, got 0"],
    [
      "answers a token that is not a number",
      answers({ ...ok, buffer, token: "1" }),
      'expected a token above 0, got "1"',
    ],
  ])("that %s has failed, and says so", async (_, fault, rule) => {
    const result = await request(faulty(reference, "device", "allocate", fault));
    expect(result).toMatchObject({ status: GENERAL_FAILURE, buffer: null, token: 0 });
    expect(result?.message).toContain("faulty: allocate ");
    expect(result?.message).toContain(rule);
  });

  it("has copies that neither throw nor reject", async () => {
    const memory = requestOf([1, 2], { room: 2 }) satisfies Request;
    const [pool] = memory.pools;
    if (pool?.kind !== "memory") throw new Error("no memory");
    for (const fault of ["throws", "rejects", answers(unknownStatus), answers(undefined)] as const) {
      for (const method of ["copyTo", "copyFrom"]) {
        const result = await request(faulty(reference, "buffer", method, fault));
        const outcome =
          method === "copyTo"
            ? await result?.buffer?.copyTo(pool.memory)
            : await result?.buffer?.copyFrom(pool.memory, []);
        expect(outcome).toMatchObject({ status: GENERAL_FAILURE });
        expect(outcome?.message).toContain(`faulty: ${method} `);
      }
      const result = await request(faulty(reference, "buffer", "close", fault));
      expect(() => result?.buffer?.close?.()).not.toThrow();
    }
  });
});
