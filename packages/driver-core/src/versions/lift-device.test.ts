import { elementAt } from "@nnhal/operations";
import { defineOperation, tensor } from "@nnhal/operations/authoring";
import { fakeDevice } from "@nnhal/test-kit/fake-device";
import {
  controlModel,
  describeExtension,
  floorModel,
  input,
  modelOf,
  operand,
  operation,
  output,
  subgraphOf,
} from "@nnhal/test-kit/models";
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  MeasureTiming,
  type Model,
  OperandType,
  type PreparedModel,
  Priority,
  type V1_0,
} from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_1 } from "./convert/v1-1.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";
import { asV1_0, asV1_3, liftDevice } from "./index.ts";
import { makeLifted, type OldBehaviour, type OldVersion, oldVersions } from "./old-driver.test-helper.ts";
import { model, requestOf } from "./versions.test-helper.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;
const { FAST_SINGLE_ANSWER, LOW_POWER } = ExecutionPreference;

/** FLOOR, an operation of HAL 1.2, and FLOOR again. */
const mixedModel: Model = modelOf(
  subgraphOf(
    [operand(input), operand(), operand(), operand(output)],
    [operation("FLOOR", [0], [1]), operation("ABS", [1], [2]), operation("FLOOR", [2], [3])],
  ),
);

const wrongModel: Model = floorModel({ type: OperandType.TENSOR_INT32 });
const float16Model: Model = floorModel({ type: OperandType.TENSOR_FLOAT16 });

describe("getSupportedOperations", () => {
  const converted: Readonly<Record<OldVersion, unknown>> = {
    "1.0": convertToV1_0.model(model).value,
    "1.1": convertToV1_1.model(model).value,
    "1.2": convertToV1_2.model(model).value,
  };

  it.each(oldVersions)("asks a driver of HAL %s about a model that it can express, by its own method", (version) => {
    const { device, calls } = makeLifted(version);
    expect(device.getSupportedOperations(model)).toEqual({
      status: NONE,
      supported: [true, true],
      reasons: [undefined, undefined],
    });
    const method = version === "1.0" ? "getSupportedOperations" : `getSupportedOperations_${version.replace(".", "_")}`;
    expect(calls).toEqual([[method, converted[version]]]);
  });

  it("asks an older driver about the slice that it can express, and maps the answer back", async () => {
    const { device, calls } = makeLifted("1.1", {
      supportedOperations: () => ({ supportedOperations: [false, true] }),
    });
    expect(device.getSupportedOperations(mixedModel)).toEqual({
      status: NONE,
      supported: [false, false, true],
      reasons: [
        "FLOOR: old-1.1 does not support it",
        "ABS: old-1.1 is of HAL 1.1, which does not have it with these operands",
        undefined,
      ],
    });
    expect(calls).toHaveLength(1);
    expect((await makeLifted("1.2").device.getSupportedOperations(mixedModel)).supported).toEqual([true, true, true]);
  });

  it("does not ask if there is no slice", async () => {
    const { device, calls } = makeLifted("1.1");
    expect((await device.getSupportedOperations(float16Model)).supported).toEqual([false, false]);
    expect(calls).toEqual([]);
  });

  it("refuses a model that is not valid, and does not ask", async () => {
    const { device, calls } = makeLifted("1.0");
    const answer = await device.getSupportedOperations(wrongModel);
    expect(answer).toMatchObject({ status: INVALID_ARGUMENT, supported: [], reasons: [] });
    expect(answer.message).toContain("the model is not valid");
    expect(calls).toEqual([]);
    const garbage: Model = JSON.parse("null");
    expect((await device.getSupportedOperations(garbage)).status).toBe(INVALID_ARGUMENT);
  });

  it("passes on a status, and ignores an answer of another length", () => {
    const busy = makeLifted("1.0", { supportedOperations: () => ({ status: DEVICE_UNAVAILABLE, message: "busy" }) });
    expect(busy.device.getSupportedOperations(model)).toEqual({
      status: DEVICE_UNAVAILABLE,
      message: "busy",
      supported: [],
      reasons: [],
    });
    const log: string[] = [];
    const short = makeLifted(
      "1.0",
      { supportedOperations: () => ({ supportedOperations: [true] }) },
      { log: (line) => log.push(line) },
    );
    expect(short.device.getSupportedOperations(model)).toEqual({
      status: NONE,
      supported: [false, false],
      reasons: ["FLOOR: old-1.0 does not support it", "FLOOR: old-1.0 does not support it"],
    });
    expect(log).toEqual(["old-1.0: 1 answers about 2 operations are ignored"]);
  });

  it("asks nothing about a slice that is not valid; strictly, that is a failure", () => {
    // Slices are cut by what HAL 1.2 can express; the definition of the extension's operation needs HAL 1.3.
    const twice = defineOperation({
      name: "TWICE",
      code: 0x1_0003,
      summary: "Doubles.",
      params: [tensor("input")],
      outputs: [tensor("output")],
      types: [["1.3", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
    });
    const main = subgraphOf(
      [operand(input), operand(), operand(output)],
      [{ type: twice.code, inputs: [0], outputs: [1] }, operation("HARD_SWISH", [1], [2])],
    );
    const log: string[] = [];
    const options = { ...describeExtension(twice), log: (line: string) => log.push(line) };
    const { device, calls } = makeLifted("1.2", {}, options);
    expect(device.getSupportedOperations(modelOf(main))).toMatchObject({ status: NONE, supported: [false, false] });
    expect(log).toEqual(["old-1.2: the slice for HAL 1.2 of a model is not valid"]);
    expect(calls).toEqual([]);
    const strict = makeLifted("1.2", {}, { ...options, strictSlicing: true });
    expect(strict.device.getSupportedOperations(modelOf(main))).toMatchObject({
      status: GENERAL_FAILURE,
      supported: [],
    });
  });

  it("asks a driver of HAL 1.3 about the model itself, whatever it is", async () => {
    const getSupportedOperations = vi.fn(() => ({ status: NONE, supported: [true, true], reasons: [] }));
    const face = asV1_3({ ...fakeDevice(), getSupportedOperations });
    const device = liftDevice("new", face);
    expect(device.halVersion).toBe("1.3");
    expect((await device.getSupportedOperations(controlModel)).supported).toEqual([true, true]);
    expect(getSupportedOperations).toHaveBeenCalledWith(controlModel);
    expect((await device.getSupportedOperations(wrongModel)).status).toBe(INVALID_ARGUMENT);
  });
});

describe("prepareModel", () => {
  it.each<[OldVersion, unknown[]]>([
    ["1.0", ["prepareModel", convertToV1_0.model(model).value]],
    ["1.1", ["prepareModel_1_1", convertToV1_1.model(model).value, LOW_POWER]],
    ["1.2", ["prepareModel_1_2", convertToV1_2.model(model).value, LOW_POWER, [], [], new Uint8Array(32)]],
  ])("asks a driver of HAL %s by its own method, without what it does not know", async (version, expected) => {
    const { device, calls } = makeLifted(version);
    const options = { preference: LOW_POWER, priority: Priority.HIGH, deadline: 1_000_000_000_000_000_000n };
    const { status, preparedModel } = await device.prepareModel(model, options);
    expect(status).toBe(NONE);
    expect(preparedModel).not.toBeNull();
    expect(calls).toEqual([expected]);
    preparedModel?.close();
    preparedModel?.close();
    expect(calls.slice(1)).toEqual([["close"]]);
  });

  it("hands a driver of HAL 1.2 the files to keep the model in", async () => {
    const { device, calls } = makeLifted("1.2");
    const cache = { modelCache: [{ fds: [3] }], dataCache: [], token: new Uint8Array(32).fill(7) };
    await device.prepareModel(model, { cache });
    expect(elementAt(calls, 0).slice(2)).toEqual([FAST_SINGLE_ANSWER, cache.modelCache, [], cache.token]);
  });

  it.each<[OldVersion, Model, string]>([
    ["1.1", mixedModel, "main.operations[1]: ABS needs HAL 1.2"],
    ["1.0", float16Model, "main.operands[0]: TENSOR_FLOAT16 needs HAL 1.2, and 4 more"],
    ["1.2", controlModel, "main.operands[7]: SUBGRAPH needs HAL 1.3, and 5 more"],
  ])("does not ask a driver of HAL %s to prepare what it cannot express", async (version, newer, why) => {
    const { device, calls } = makeLifted(version);
    expect(await device.prepareModel(newer)).toEqual({
      status: GENERAL_FAILURE,
      message: `old-${version} is of HAL ${version}: ${why}`,
      preparedModel: null,
    });
    expect(calls).toEqual([]);
  });

  it("warns that a driver of HAL 1.0 does not get the permission to relax", async () => {
    const log: string[] = [];
    const { device } = makeLifted("1.0", {}, { log: (line) => log.push(line) });
    const { status } = await device.prepareModel({ ...model, relaxComputationFloat32toFloat16: true });
    expect(status).toBe(NONE);
    expect(log).toEqual([
      "converting a model to HAL 1.0 loses something: " +
        "relaxComputationFloat32toFloat16: permission to compute float32 as float16 needs HAL 1.1",
    ]);
  });

  it.each(oldVersions)("refuses what is not valid before a driver of HAL %s sees it", async (version) => {
    const { device, calls } = makeLifted(version);
    expect((await device.prepareModel(wrongModel)).status).toBe(INVALID_ARGUMENT);
    // As a hostile peer can send it.
    const preference = 3 as ExecutionPreference;
    expect(await device.prepareModel(model, { preference })).toMatchObject({
      status: INVALID_ARGUMENT,
      message: "the execution preference: expected 0, 1 or 2, got 3",
    });
    const priority = -1 as Priority;
    expect((await device.prepareModel(model, { priority })).status).toBe(INVALID_ARGUMENT);
    expect(calls).toEqual([]);
  });

  it("knows deadlines in place of a driver that does not", async () => {
    const { device, calls } = makeLifted("1.2", {}, { now: () => 5n });
    expect((await device.prepareModel(model, { deadline: 5n })).status).toBe(MISSED_DEADLINE_PERSISTENT);
    expect(calls).toEqual([]);
    expect((await device.prepareModel(model, { deadline: 6n })).status).toBe(NONE);
  });

  it("accepts a callback before the launch returns, and only the first of several", async () => {
    const { device } = makeLifted("1.2", {
      prepare(callback, succeed) {
        succeed();
        callback.notify_1_2(GENERAL_FAILURE, null);
        return { status: NONE };
      },
    });
    expect((await device.prepareModel(model)).status).toBe(NONE);
  });

  it("uses the status of a launch that fails, and does not wait for its callback", async () => {
    const silent = makeLifted("1.0", { prepare: () => ({ status: DEVICE_UNAVAILABLE, message: "busy" }) });
    const expected = { status: DEVICE_UNAVAILABLE, message: "busy", preparedModel: null };
    expect(await silent.device.prepareModel(model)).toEqual(expected);
    const told = makeLifted("1.0", {
      prepare(callback) {
        callback.notify(INVALID_ARGUMENT, null);
        return { status: DEVICE_UNAVAILABLE, message: "busy" };
      },
    });
    expect(await told.device.prepareModel(model)).toEqual(expected);
  });

  it.each<[string, OldBehaviour["prepare"], ErrorStatus]>([
    [
      "a status",
      (callback) => {
        callback.notify(DEVICE_UNAVAILABLE, null);
        return { status: NONE };
      },
      DEVICE_UNAVAILABLE,
    ],
    [
      "NONE without a model",
      (callback) => {
        callback.notify(NONE, null);
        return { status: NONE };
      },
      GENERAL_FAILURE,
    ],
    [
      "no status",
      (callback) => {
        callback.notify(99 as V1_0.ErrorStatus, null);
        return { status: NONE };
      },
      GENERAL_FAILURE,
    ],
    [
      "an exception",
      () => {
        throw new Error("transport");
      },
      GENERAL_FAILURE,
    ],
  ])("fails if a driver answers %s", async (_what, prepare, expected) => {
    const { device } = makeLifted("1.0", { ...(prepare && { prepare }) });
    const { status, preparedModel } = await device.prepareModel(model);
    expect({ status, preparedModel }).toEqual({ status: expected, preparedModel: null });
  });

  it("passes everything on to a driver of HAL 1.3", async () => {
    const prepareModel = vi.fn<Device["prepareModel"]>(async () => ({ status: INVALID_ARGUMENT, preparedModel: null }));
    const device = liftDevice("new", asV1_3({ ...fakeDevice(), prepareModel }));
    const cache = { modelCache: [{ fds: [3] }], dataCache: [], token: new Uint8Array(32) };
    const options = { preference: LOW_POWER, priority: Priority.HIGH, deadline: 0n, cache };
    expect((await device.prepareModel(controlModel, options)).status).toBe(INVALID_ARGUMENT);
    expect(prepareModel).toHaveBeenCalledWith(controlModel, options);
    await device.prepareModel(model);
    expect(elementAt(elementAt(prepareModel.mock.calls, 1), 1)).toEqual({
      preference: FAST_SINGLE_ANSWER,
      priority: Priority.MEDIUM,
    });
  });
});

describe("prepareModelFromCache", () => {
  const cache = { modelCache: [{ fds: [3] }], dataCache: [], token: new Uint8Array(32) };

  it.each(["1.0", "1.1"] as const)("fails on a driver of HAL %s", async (version) => {
    expect(await makeLifted(version).device.prepareModelFromCache?.(cache)).toEqual({
      status: GENERAL_FAILURE,
      message: `prepareModelFromCache: old-${version} is of HAL ${version}, which has no compilation caching`,
      preparedModel: null,
    });
  });

  it("asks a driver of HAL 1.2 or 1.3", async () => {
    const { device, calls } = makeLifted("1.2");
    expect((await device.prepareModelFromCache?.(cache))?.preparedModel).not.toBeNull();
    expect(calls).toEqual([["prepareModelFromCache", cache.modelCache, [], cache.token]]);
    const prepareModelFromCache = vi.fn<NonNullable<Device["prepareModelFromCache"]>>(async () => ({
      status: NONE,
      preparedModel: { execute: vi.fn(), close: vi.fn() },
    }));
    const newest = liftDevice("new", asV1_3({ ...fakeDevice(), prepareModelFromCache }));
    expect((await newest.prepareModelFromCache?.(cache, { deadline: 9n }))?.status).toBe(NONE);
    expect(prepareModelFromCache).toHaveBeenCalledWith(cache, { deadline: 9n });
  });
});

describe("allocate", () => {
  const desc = { dimensions: [2] };
  const role = { modelIndex: 0, ioIndex: 0, frequency: 1 };

  it.each(["1.0", "1.1", "1.2"] as const)("fails on a driver of HAL %s", async (version) => {
    const { device } = makeLifted(version);
    expect(await device.allocate?.(desc, [], [role], [])).toMatchObject({
      status: GENERAL_FAILURE,
      buffer: null,
      token: 0,
    });
  });

  it("hands a driver of HAL 1.3 its own prepared models, and null for any other", async () => {
    const buffer = { copyTo: vi.fn(async () => ({ status: NONE })), copyFrom: vi.fn() };
    const allocate = vi.fn<NonNullable<Device["allocate"]>>(async () => ({ status: NONE, buffer, token: 3 }));
    const below: Device = { ...fakeDevice(), allocate };
    const device = liftDevice("new", asV1_3(below));
    const { preparedModel } = await device.prepareModel(model);
    const foreign: PreparedModel = { execute: vi.fn(), close: vi.fn() };
    const allocated = await device.allocate?.(desc, [preparedModel, foreign, null], [role], []);
    expect(allocated).toMatchObject({ status: NONE, token: 3 });
    const { pools } = requestOf();
    const { memory } = elementAt(
      pools.flatMap((pool) => (pool.kind === "memory" ? [pool] : [])),
      0,
    );
    expect(await allocated?.buffer?.copyTo(memory)).toEqual({ status: NONE });
    expect(buffer.copyTo).toHaveBeenCalledWith(memory);
    expect(allocate.mock.calls[0]?.[1].map((one) => one !== null)).toEqual([true, false, false]);
    allocate.mockResolvedValueOnce({ status: INVALID_ARGUMENT, buffer, token: 3 });
    expect(await device.allocate?.(desc, [], [], [])).toEqual({ status: INVALID_ARGUMENT, buffer: null, token: 0 });
  });
});

describe("a device behind a face, lifted again", () => {
  it("executes as itself", async () => {
    const device = fakeDevice({ execute: ({ output }) => void output(0).fill(1) });
    for (const lifted of [liftDevice("a", asV1_0(device)), liftDevice("b", asV1_3(device))]) {
      const bytes = new Uint8Array(8);
      const { preparedModel } = await lifted.prepareModel(model);
      const result = await preparedModel?.execute(requestOf(new Uint8Array(8), bytes), { measure: MeasureTiming.NO });
      expect(result?.status).toBe(NONE);
      expect([...bytes]).toEqual(Array.from({ length: 8 }, () => 1));
    }
  });
});
