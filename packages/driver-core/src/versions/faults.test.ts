/**
 * Drivers and devices that throw, lie or never answer, and callers that pass nonsense: every method of lifts and faces
 * answers a status, and in time.
 */
import {
  type BurstResult,
  type Device,
  DeviceStatus,
  ErrorStatus,
  type IBuffer,
  MeasureTiming,
  type Outcome,
  type PreparedModel,
  Priority,
  type V1_0,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { manualClock } from "../schedule/manual-clock.test-helper.ts";
import { type AnyIDevice, asV1_0, asV1_1, asV1_2, asV1_3, liftDevice } from "./index.ts";
import { none, preparing, token } from "./launches.test-helper.ts";
import { driverV1_0, driverV1_2 } from "./old-driver.test-helper.ts";
import {
  executionCallback,
  measured,
  model,
  oldRequestOf,
  preparedCallback,
  requestOf,
  settled,
} from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_TRANSIENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
const { YES } = MeasureTiming;
const request = requestOf();
const shape = { dimensions: [2], isSufficient: true };
const success = { status: NONE, outputShapes: [shape], timing: measured };
const cache = { modelCache: [{ fds: [3] }], dataCache: [], token: new Uint8Array(32) };
const desc = { dimensions: [2] };
const memory = { name: "ashmem", size: 0, handle: null } as const;
const queues = [
  { datum: "FmqRequestDatum", memory, capacity: 16 },
  { datum: "FmqResultDatum", memory, capacity: 16 },
] as const;
const client = { getMemories: () => ({ status: NONE, buffers: [] }) };

/** Anything, of any type: what a peer can send. */
function anything<Type>(json: string | undefined): Type {
  return json === undefined ? (undefined as Type) : JSON.parse(json);
}

const faults: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error("on fire");
  },
  rejects: () => Promise.reject(new Error("on fire")),
  "answers undefined": () => undefined,
  "answers null": () => null,
  "answers a number": () => 5,
  "answers nothing of what it should": () => ({}),
  "answers a status that does not exist": () => ({ status: 99, supported: [], reasons: [] }),
  "answers NONE and nothing else": () => ({ status: NONE }),
};
const names = Object.keys(faults);

/** An object of some kind, all methods of which do the same. */
function faulty<Kind extends object>(like: Kind, fault: () => unknown): Kind {
  return Object.assign({ ...like }, Object.fromEntries(Object.keys(like).map((key) => [key, fault])));
}

const wholeModel: PreparedModel = {
  execute: async () => success,
  executeFenced: async () => ({ status: GENERAL_FAILURE, syncFence: null, callback: null }),
  configureExecutionBurst: async () => ({ status: GENERAL_FAILURE, context: null }),
  close: () => {},
};
const wholeDevice: Device = {
  ...preparing(async () => ({ status: NONE, preparedModel: wholeModel })),
  prepareModelFromCache: async () => ({ status: NONE, preparedModel: wholeModel }),
  allocate: async () => ({ status: GENERAL_FAILURE, buffer: null, token: 0 }),
};

/** Every method of a device, called; each status. */
async function statusesOf(device: Device): Promise<ErrorStatus[]> {
  const outcomes: (Outcome | undefined)[] = [
    device.getCapabilities(),
    device.getType(),
    device.getVersionString(),
    device.getSupportedExtensions(),
    device.getNumberOfCacheFilesNeeded(),
    device.getSupportedOperations(model),
    await device.prepareModel(model),
    await device.prepareModelFromCache?.(cache),
    await device.allocate?.(desc, [], [], []),
  ];
  return outcomes.flatMap((outcome) => (outcome === undefined ? [] : [outcome.status]));
}

describe.each(names)("a driver each method of which %s", (name) => {
  const fault = faults[name];

  it.each<[string, AnyIDevice]>([
    ["1.2", faulty(driverV1_2().device, fault)],
    ["1.3", faulty(asV1_3(wholeDevice), fault)],
  ])("of HAL %s, lifted, answers GENERAL_FAILURE", async (_version, driver) => {
    const clock = manualClock();
    const device = liftDevice("faulty", driver, { now: clock.now, timer: clock.timer });
    const statuses = statusesOf(device);
    // A launch of NONE, with no callback, is answered in time.
    for (let count = 0; count < 4; count++) {
      await settled();
      clock.advance(600_000_000_000n);
    }
    expect(new Set(await statuses)).toEqual(new Set([GENERAL_FAILURE]));
    expect(device.getStatus()).toBe(DeviceStatus.UNKNOWN);
    expect(clock.waiting).toBe(0);
  });

  it("has prepared models that answer GENERAL_FAILURE when they are lifted", async () => {
    const clock = manualClock();
    const { device: driver } = driverV1_2();
    const prepared = faulty(asV1_3PreparedModel(), fault);
    const device = liftDevice(
      "faulty",
      {
        ...driver,
        prepareModel_1_2(_model, _preference, _modelCache, _dataCache, _token, callback) {
          callback?.notify_1_2(NONE, prepared);
          return { status: NONE };
        },
      },
      { now: clock.now, timer: clock.timer },
    );
    const { preparedModel } = await device.prepareModel(model);
    if (preparedModel === null) throw new Error("no prepared model");
    // Shapes that are known may be left out.
    await expectFailures(preparedModel, clock, name === "answers NONE and nothing else" ? NONE : GENERAL_FAILURE);
  });

  it("answers by callback or by status behind each face", async () => {
    const clock = manualClock();
    const options = { now: clock.now, timer: clock.timer };
    const below = faulty(wholeDevice, fault);
    const statuses: ErrorStatus[] = [];
    for (const face of [asV1_0, asV1_1, asV1_2, asV1_3]) {
      const device: Partial<V1_3.IDevice> & V1_0.IDevice = face(below, options);
      const outcomes: (Outcome | undefined)[] = [
        device.getCapabilities(),
        device.getCapabilities_1_1?.(),
        device.getCapabilities_1_2?.(),
        device.getCapabilities_1_3?.(),
        device.getVersionString?.(),
        device.getType?.(),
        device.getSupportedExtensions?.(),
        device.getNumberOfCacheFilesNeeded?.(),
      ];
      for (const outcome of outcomes) if (outcome !== undefined) statuses.push(outcome.status);
      statuses.push(device.getSupportedOperations({ ...oldModel }).status);
      expect(device.getStatus()).toBe(DeviceStatus.UNKNOWN);
      const callback = preparedCallback();
      device.prepareModel(oldModel, callback);
      device.prepareModelFromCache?.([], [], token, callback);
      const allocated = device.allocate?.(desc, [], [], []);
      await settled();
      clock.advance(600_000_000_000n);
      statuses.push((await callback.first).status);
      if (allocated !== undefined) statuses.push((await allocated).status);
      for (const call of callback.calls) statuses.push(call.status);
    }
    expect(new Set(statuses)).toEqual(new Set([GENERAL_FAILURE]));
  });

  it("has prepared models that answer GENERAL_FAILURE behind faces", async () => {
    const clock = manualClock();
    const own = faulty(wholeModel, fault);
    const face = asV1_3(
      preparing(async () => ({ status: NONE, preparedModel: own })),
      {
        now: clock.now,
        timer: clock.timer,
      },
    );
    const callback = preparedCallback();
    face.prepareModel_1_3(model, 1, Priority.MEDIUM, none, [], [], token, callback);
    const { preparedModel } = await callback.first;
    const prepared = preparedModel as V1_3.IPreparedModel;
    const executions = [executionCallback(), executionCallback(), executionCallback()];
    prepared.execute(oldRequestOf(), executions[0]);
    prepared.execute_1_2(oldRequestOf(), YES, executions[1]);
    prepared.execute_1_3(request, YES, none, none, executions[2]);
    const outcomes = await Promise.all<Outcome>([
      ...executions.map(({ first }) => first),
      prepared.executeSynchronously(oldRequestOf(), YES),
      prepared.executeSynchronously_1_3(request, YES, none, none),
      prepared.executeFenced(request, [], YES, none, none, none),
      prepared.configureExecutionBurst(client, ...queues),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => GENERAL_FAILURE));
    prepared.close?.();
    await settled();
  });
});

const oldModel: V1_0.Model = (() => {
  const { main, operandValues, pools } = model;
  const { operands, operations, inputIndexes, outputIndexes } = main;
  return { operands, operations, inputIndexes, outputIndexes, operandValues, pools } as V1_0.Model;
})();

/** The methods of a prepared model of HAL 1.3. */
function asV1_3PreparedModel(): V1_3.IPreparedModel {
  const nothing = () => ({ status: NONE }) as const;
  const later = () => Promise.reject(new Error("not called"));
  return {
    execute: nothing,
    execute_1_2: nothing,
    execute_1_3: nothing,
    executeSynchronously: later,
    executeSynchronously_1_3: later,
    executeFenced: later,
    configureExecutionBurst: later,
    close: () => {},
  };
}

async function expectFailures(
  preparedModel: PreparedModel,
  clock: ReturnType<typeof manualClock>,
  execution: ErrorStatus,
): Promise<void> {
  const answers = Promise.all<Outcome | undefined>([
    preparedModel.execute(request),
    preparedModel.executeFenced?.(request, []),
    preparedModel.configureExecutionBurst?.(client, ...queues),
  ]);
  await settled();
  clock.advance(600_000_000_000n);
  expect((await answers).map((answer) => answer?.status)).toEqual([execution, GENERAL_FAILURE, GENERAL_FAILURE]);
  expect(() => preparedModel.close()).not.toThrow();
  // What close rejects with is nobody's unhandled rejection.
  await settled();
  expect((await preparedModel.execute(request)).status).toBe(INVALID_ARGUMENT);
  expect(clock.waiting).toBe(0);
}

describe("a driver that launches and never calls back", () => {
  /** A prepared model of HAL 1.2 that never calls back until it is told to, lifted. */
  async function silent(version: "1.0" | "1.2", log: string[] = []) {
    const clock = manualClock();
    const callbacks: (V1_0.IExecutionCallback | null)[] = [];
    const launch = (callback: V1_0.IExecutionCallback | null) => {
      callbacks.push(callback);
      return { status: NONE };
    };
    const own: Partial<V1_2.IPreparedModel> & V1_0.IPreparedModel = {
      execute: (_request, callback) => launch(callback),
      ...(version === "1.2" && {
        execute_1_2: (_request, _measure, callback) => launch(callback),
        executeSynchronously: () => new Promise(() => {}),
      }),
    };
    const { device } = driverV1_0();
    const driver: V1_0.IDevice = {
      ...device,
      prepareModel(_model, callback) {
        callback?.notify(NONE, own);
        return { status: NONE };
      },
    };
    const options = { now: clock.now, timer: clock.timer, log: (line: string) => void log.push(line) };
    const lifted = liftDevice("silent", driver, { ...options, synchronous: false });
    const { preparedModel } = await lifted.prepareModel(model);
    if (preparedModel === null) throw new Error("no prepared model");
    return { clock, preparedModel, callbacks };
  }

  it.each(["1.0", "1.2"] as const)(
    "an execution (HAL %s) ends at its deadline, and what comes later is logged",
    async (version) => {
      const log: string[] = [];
      const { clock, preparedModel, callbacks } = await silent(version, log);
      const answer = preparedModel.execute(request, { deadline: 1000n });
      await settled();
      clock.advance(1000n);
      expect(await answer).toMatchObject({
        status: MISSED_DEADLINE_TRANSIENT,
        message: "silent: execute: there was no answer by the deadline",
        outputShapes: [],
      });
      callbacks[0]?.notify(NONE);
      callbacks[0]?.notify(NONE);
      await settled();
      expect(log).toEqual([
        "a driver called back again; the first call counts",
        "silent: execute: an answer that came too late is ignored",
      ]);
      expect(clock.waiting).toBe(0);
    },
  );

  it.each(["1.0", "1.2"] as const)(
    "an execution (HAL %s) without a deadline ends after 10 minutes",
    async (version) => {
      const { clock, preparedModel } = await silent(version);
      const answer = preparedModel.execute(request);
      await settled();
      clock.advance(599_999_999_999n);
      const early = vi.fn();
      void answer.then(early);
      await settled();
      expect(early).not.toHaveBeenCalled();
      clock.advance(1n);
      expect(await answer).toMatchObject({
        status: GENERAL_FAILURE,
        message: "silent: execute: there was no answer within 600000 ms",
      });
    },
  );

  it("a fenced execution ends at its deadline, and does not execute when its fences are signalled later", async () => {
    const { clock, preparedModel, callbacks } = await silent("1.0");
    let signal: (state: "SIGNALED") => void = () => {};
    const wait = new Promise<"SIGNALED">((resolve) => {
      signal = resolve;
    });
    const answer = preparedModel.executeFenced?.(request, [{ state: "ACTIVE", wait: () => wait }], { deadline: 1000n });
    await settled();
    clock.advance(1000n);
    expect(await answer).toMatchObject({ status: MISSED_DEADLINE_TRANSIENT, syncFence: null, callback: null });
    signal("SIGNALED");
    await settled();
    expect(callbacks).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  it("a preparation ends at its deadline, and a model that comes later is freed", async () => {
    const clock = manualClock();
    const callbacks: (V1_0.IPreparedModelCallback | null)[] = [];
    const driver: V1_0.IDevice = {
      ...driverV1_0().device,
      prepareModel(_model, callback) {
        callbacks.push(callback);
        return { status: NONE };
      },
    };
    const log: string[] = [];
    const options = { now: clock.now, timer: clock.timer, log: (line: string) => void log.push(line) };
    const answer = liftDevice("silent", driver, options).prepareModel(model, { deadline: 1000n });
    await settled();
    clock.advance(1000n);
    expect(await answer).toEqual({
      status: MISSED_DEADLINE_TRANSIENT,
      message: "silent: prepareModel: there was no answer by the deadline",
      preparedModel: null,
    });
    const close = vi.fn();
    callbacks[0]?.notify(NONE, { execute: () => ({ status: NONE }), close });
    await settled();
    expect(close).toHaveBeenCalledTimes(1);
    expect(log).toEqual(["silent: prepareModel: an answer that came too late is ignored"]);
  });

  it("of HAL 1.3 gets 100 ms more to keep its deadline itself", async () => {
    const clock = manualClock();
    const never = preparing(() => new Promise(() => {}));
    const options = { now: clock.now, timer: clock.timer };
    const answer = liftDevice("silent", asV1_3(never), options).prepareModel(model, { deadline: 1000n });
    const early = vi.fn();
    void answer.then(early);
    await settled();
    clock.advance(100_000_999n);
    await settled();
    expect(early).not.toHaveBeenCalled();
    clock.advance(1n);
    expect((await answer).status).toBe(MISSED_DEADLINE_TRANSIENT);
  });
});

describe("answers of a lifted execution", () => {
  async function answered(result: object) {
    const execute = async () => ({ ...success, ...result });
    const own: PreparedModel = { ...wholeModel, execute };
    const driver = { ...driverV1_2().device };
    const lifted = liftDevice("lying", {
      ...driver,
      prepareModel_1_2(_model, _preference, _modelCache, _dataCache, _token, callback) {
        const prepared = { ...asV1_3PreparedModel(), executeSynchronously_1_3: own.execute };
        callback?.notify_1_2(NONE, prepared as unknown as V1_2.IPreparedModel);
        return { status: NONE };
      },
    });
    const { preparedModel } = await lifted.prepareModel(model);
    return preparedModel?.execute(request, { measure: YES });
  }

  it("that are right are passed on, with shapes that are known if they are left out", async () => {
    expect(await answered({})).toEqual(success);
    expect(await answered({ outputShapes: [] })).toEqual(success);
    const short = { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [{ ...shape, isSufficient: false }] };
    expect(await answered(short)).toMatchObject(short);
  });

  it.each<[string, object]>([
    ["a status that does not exist", { status: 99 }],
    ["no list of shapes", { outputShapes: 5 }],
    ["a shape too many", { outputShapes: [shape, shape] }],
    ["a shape that is null", { outputShapes: [null] }],
    ["another rank", { outputShapes: [{ dimensions: [2, 1], isSufficient: true }] }],
    ["another extent", { outputShapes: [{ dimensions: [3], isSufficient: true }] }],
    ["a fraction of an extent", { outputShapes: [{ dimensions: [1.5], isSufficient: true }] }],
    ["NONE, but not sufficient", { outputShapes: [{ ...shape, isSufficient: false }] }],
    ["OUTPUT_INSUFFICIENT_SIZE without shapes", { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [] }],
    ["OUTPUT_INSUFFICIENT_SIZE, but sufficient", { status: OUTPUT_INSUFFICIENT_SIZE }],
  ])("with %s are GENERAL_FAILURE", async (_what, result) => {
    const answer = await answered(result);
    expect(answer).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
    expect(answer?.message).toContain("lying: execute: its answer is not valid: ");
  });

  it("have times only if they are times", async () => {
    expect((await answered({ timing: null }))?.timing).not.toBeNull();
    expect((await answered({ timing: { timeOnDevice: 1, timeInDriver: 2 } }))?.status).toBe(NONE);
  });
});

describe("arguments that are nonsense", () => {
  const lifted = liftDevice("old", driverV1_2().device);
  const newest = liftDevice("new", asV1_3(wholeDevice));

  it.each(["null", "5", '{ "deadline": 5 }', '{ "deadline": "soon" }'])(
    "options %s are INVALID_ARGUMENT",
    async (json) => {
      for (const device of [lifted, newest]) {
        const options: object = anything(json);
        expect((await device.prepareModel(model, options)).status).toBe(INVALID_ARGUMENT);
        expect((await device.prepareModelFromCache?.(cache, options))?.status).toBe(INVALID_ARGUMENT);
        const { preparedModel } = await device.prepareModel(model);
        expect((await preparedModel?.execute(request, options))?.status).toBe(INVALID_ARGUMENT);
        expect((await preparedModel?.executeFenced?.(request, [], options))?.status).toBe(INVALID_ARGUMENT);
      }
    },
  );

  it("options that throw when they are read are INVALID_ARGUMENT", async () => {
    const options = {
      get deadline(): bigint {
        throw new Error("no");
      },
    };
    for (const device of [lifted, newest]) {
      expect((await device.prepareModel(model, options)).status).toBe(INVALID_ARGUMENT);
      const { preparedModel } = await device.prepareModel(model);
      expect((await preparedModel?.execute(request, options))?.status).toBe(INVALID_ARGUMENT);
    }
  });

  it.each(["null", "5", "{}", '{ "main": 5 }', '{ "main": { "operations": 5 } }'])(
    "model %s is a failure",
    async (json) => {
      for (const device of [lifted, newest]) {
        const wrong: typeof model = anything(json);
        expect(device.getSupportedOperations(wrong)).toMatchObject({ supported: [], reasons: [] });
        expect([INVALID_ARGUMENT, GENERAL_FAILURE]).toContain(device.getSupportedOperations(wrong).status);
        expect([INVALID_ARGUMENT, GENERAL_FAILURE]).toContain((await device.prepareModel(wrong)).status);
      }
    },
  );

  it.each(["null", "5", "{}", '{ "inputs": 5, "outputs": [null], "pools": 5 }'])(
    "request %s is INVALID_ARGUMENT",
    async (json) => {
      for (const device of [lifted, newest]) {
        const { preparedModel } = await device.prepareModel(model);
        expect((await preparedModel?.execute(anything(json)))?.status).toBe(INVALID_ARGUMENT);
      }
    },
  );

  it("caches, fences and lists that are none are a status", async () => {
    const wrong = "null";
    for (const device of [lifted, newest]) {
      expect((await device.prepareModelFromCache?.(anything(wrong)))?.status).toBe(INVALID_ARGUMENT);
      expect((await device.prepareModel(model, { cache: anything(wrong) })).status).toBe(NONE);
      const { preparedModel } = await device.prepareModel(model);
      expect((await preparedModel?.executeFenced?.(request, anything(wrong)))?.status).toBe(INVALID_ARGUMENT);
      const burst = await preparedModel?.configureExecutionBurst?.(null, anything(wrong), anything(wrong));
      expect(burst).toBeDefined();
    }
    expect((await newest.allocate?.(desc, anything(wrong), [], []))?.status).toBe(INVALID_ARGUMENT);
  });

  it("a driver or a device that is not an object is named", () => {
    expect(() => liftDevice("x", anything("null"))).toThrow("lifting x: the driver is null where an IDevice is needed");
    expect(() => asV1_3(anything("5"))).toThrow("presenting a device: it is 5 where a Device is needed");
  });

  it("deadlines of HAL 1.3 that are not times are INVALID_ARGUMENT", async () => {
    const face = asV1_3(wholeDevice);
    for (const json of ["null", "5", '{ "kind": "nanosecondsSinceEpoch", "nanosecondsSinceEpoch": "soon" }']) {
      const callback = preparedCallback();
      const deadline: typeof none = anything(json);
      const launched = face.prepareModel_1_3(model, 1, Priority.MEDIUM, deadline, [], [], token, callback);
      if (json === "5") continue;
      expect(launched.status).toBe(INVALID_ARGUMENT);
      expect((await callback.first).status).toBe(INVALID_ARGUMENT);
    }
  });
});

describe("buffers and bursts of drivers", () => {
  const allocating = (buffer: IBuffer): Device => ({
    ...wholeDevice,
    allocate: async () => ({ status: NONE, buffer, token: 3 }),
  });

  it.each(names)("a buffer each method of which %s answers GENERAL_FAILURE", async (name) => {
    const clock = manualClock();
    const own: IBuffer = faulty(
      { copyTo: async () => ({ status: NONE }), copyFrom: async () => ({ status: NONE }), close() {} },
      faults[name],
    );
    const options = { now: clock.now, timer: clock.timer };
    for (const device of [
      liftDevice("new", asV1_3(allocating(own))),
      liftDevice("new", asV1_3(allocating(own)), options),
    ]) {
      const { buffer } = (await device.allocate?.(desc, [], [], [])) ?? {};
      const expected = name === "answers NONE and nothing else" ? NONE : GENERAL_FAILURE;
      expect((await buffer?.copyTo(memory))?.status).toBe(expected);
      expect((await buffer?.copyFrom(memory, []))?.status).toBe(expected);
      buffer?.close?.();
    }
    await settled();
  });

  it.each<[string, object]>([
    ["no buffer", { buffer: null, token: 3 }],
    ["a buffer without methods", { buffer: {}, token: 3 }],
    ["token 0", { buffer: { copyTo() {}, copyFrom() {} }, token: 0 }],
    ["a token that is not an integer", { buffer: { copyTo() {}, copyFrom() {} }, token: 1.5 }],
  ])("NONE with %s is GENERAL_FAILURE", async (_what, result) => {
    const allocate = vi.fn().mockResolvedValue({ status: NONE, ...result });
    for (const answer of [
      await liftDevice("new", { ...asV1_3(wholeDevice), allocate }).allocate?.(desc, [], [], []),
      await asV1_3({ ...wholeDevice, allocate }).allocate(desc, [], [], []),
    ]) {
      expect(answer).toMatchObject({ status: GENERAL_FAILURE, buffer: null, token: 0 });
    }
  });

  it("a burst's context keeps what it throws, and executes directly if its driver does", async () => {
    const log: string[] = [];
    const execute = vi.fn(async () => success);
    const configureExecutionBurst = async (): Promise<BurstResult> => ({
      status: NONE,
      context: {
        freeMemory() {
          throw new Error("on fire");
        },
        close: () => Promise.reject(new Error("on fire")),
        execute,
      },
    });
    const own: PreparedModel = { ...wholeModel, configureExecutionBurst };
    const device = liftDevice("new", asV1_3(preparing(async () => ({ status: NONE, preparedModel: own }))), {
      log: (line) => log.push(line),
    });
    const { preparedModel } = await device.prepareModel(model);
    const { context } = (await preparedModel?.configureExecutionBurst?.(client, ...queues)) ?? {};
    expect(() => context?.freeMemory(1)).not.toThrow();
    context?.close?.();
    expect(await context?.execute?.(request, YES)).toBe(success);
    await settled();
  });
});
