/**
 * Callers that pass nonsense: every method of lifts and faces answers a status.
 */
import { ErrorStatus, Priority } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { cache, desc, parseAnything, request, wholeDevice } from "./faults.test-helper.ts";
import { asAidl4, asV1_3, liftDevice } from "./index.ts";
import { type none, token } from "./launches.test-helper.ts";
import { driverV1_2 } from "./old-driver.test-helper.ts";
import { model, preparedCallback } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

describe("arguments that are nonsense", () => {
  const lifted = liftDevice("old", driverV1_2().device);
  const newest = liftDevice("new", asV1_3(wholeDevice));
  const aidl = liftDevice("aidl", asAidl4(wholeDevice));

  it.each(["null", "5", '{ "deadline": 5 }', '{ "deadline": "soon" }'])(
    "options %s are INVALID_ARGUMENT",
    async (json) => {
      for (const device of [lifted, newest]) {
        const options: object = parseAnything(json);
        expect((await device.prepareModel(model, options)).status).toBe(INVALID_ARGUMENT);
        expect((await device.prepareModelFromCache?.(cache, options))?.status).toBe(INVALID_ARGUMENT);
        const { preparedModel } = await device.prepareModel(model);
        expect((await preparedModel?.execute(request, options))?.status).toBe(INVALID_ARGUMENT);
        expect((await preparedModel?.executeFenced?.(request, [], options))?.status).toBe(INVALID_ARGUMENT);
      }
    },
  );

  it.each([
    ["null", "the request: expected an object, got null"],
    ["{}", "the request's inputs: expected an array, got undefined"],
    ['{ "inputs": [], "outputs": 5 }', "the request's outputs: expected an array, got 5"],
    ['{ "inputs": [], "outputs": [], "pools": "a" }', 'the request\'s pools: expected an array, got "a"'],
  ])("request %s is told: %s", async (json, message) => {
    for (const device of [lifted, newest, aidl]) {
      const { preparedModel } = await device.prepareModel(model);
      const refused = { status: INVALID_ARGUMENT, message };
      expect(await preparedModel?.execute(parseAnything(json))).toMatchObject(refused);
      expect((await preparedModel?.executeFenced?.(parseAnything(json), [])) ?? refused).toMatchObject(refused);
      expect((await preparedModel?.createReusableExecution?.(parseAnything(json))) ?? refused).toMatchObject(refused);
    }
  });

  it.each([
    ["null", "model: the model is null"],
    ['{ "main": { "operands": 5 } }', "the model is not valid: extensionNameToPrefix: "],
  ])("model %s is told in the words of its rule, even if no version can express it: %s", async (json, message) => {
    for (const device of [newest, aidl]) {
      expect(await device.prepareModel(parseAnything(json))).toMatchObject({
        status: INVALID_ARGUMENT,
        message: expect.stringContaining(message),
      });
    }
  });

  it("arguments of an allocation and of copies are told", async () => {
    const nothing: [] = [];
    const told = async (...given: readonly [unknown, unknown, unknown]) =>
      (await aidl.allocate?.(given[0] as typeof desc, nothing, given[1] as [], given[2] as []))?.message;
    expect(await told(null, [], [])).toBe("desc: expected an object, got null");
    expect(await told({}, [], [])).toBe("desc.dimensions: expected an array, got undefined");
    expect(await told(desc, 5, [])).toBe("inputRoles: expected an array, got 5");
    expect(await told(desc, [], "a")).toBe('outputRoles: expected an array, got "a"');
  });

  it("a cache that throws when it is read keeps nothing, and is not loaded", async () => {
    const throwing = {
      ...cache,
      get token(): never {
        throw new Error("no");
      },
    };
    for (const device of [lifted, newest, aidl]) {
      expect((await device.prepareModel(model, { cache: throwing })).status).toBe(NONE);
      expect((await device.prepareModelFromCache?.(throwing))?.status).toBe(INVALID_ARGUMENT);
    }
  });

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
        const wrong: typeof model = parseAnything(json);
        expect(device.getSupportedOperations(wrong)).toMatchObject({ supported: [], reasons: [] });
        expect([INVALID_ARGUMENT, GENERAL_FAILURE]).toContain((await device.getSupportedOperations(wrong)).status);
        expect([INVALID_ARGUMENT, GENERAL_FAILURE]).toContain((await device.prepareModel(wrong)).status);
      }
    },
  );

  it.each(["null", "5", "{}", '{ "inputs": 5, "outputs": [null], "pools": 5 }'])(
    "request %s is INVALID_ARGUMENT",
    async (json) => {
      for (const device of [lifted, newest]) {
        const { preparedModel } = await device.prepareModel(model);
        expect((await preparedModel?.execute(parseAnything(json)))?.status).toBe(INVALID_ARGUMENT);
      }
    },
  );

  it("caches, fences and lists that are none are a status", async () => {
    const wrong = "null";
    for (const device of [lifted, newest]) {
      expect((await device.prepareModelFromCache?.(parseAnything(wrong)))?.status).toBe(INVALID_ARGUMENT);
      expect((await device.prepareModel(model, { cache: parseAnything(wrong) })).status).toBe(NONE);
      const { preparedModel } = await device.prepareModel(model);
      expect((await preparedModel?.executeFenced?.(request, parseAnything(wrong)))?.status).toBe(INVALID_ARGUMENT);
      const burst = await preparedModel?.configureExecutionBurst?.(null, parseAnything(wrong), parseAnything(wrong));
      expect(burst).toBeDefined();
    }
    expect((await newest.allocate?.(desc, parseAnything(wrong), [], []))?.status).toBe(INVALID_ARGUMENT);
  });

  it.each([0, 31, 33])("a cache with a token of %i bytes keeps nothing, and is not loaded", async (length) => {
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const devices = [
      liftDevice("old", driverV1_2().device, { log }),
      liftDevice("new", asV1_3(wholeDevice), { log }),
      liftDevice("aidl", asAidl4(wholeDevice), { log }),
    ];
    for (const device of devices) {
      const wrong = { ...cache, token: new Uint8Array(length) };
      expect((await device.prepareModel(model, { cache: wrong })).status).toBe(NONE);
      expect(lines.splice(0)).toEqual([expect.stringContaining("nothing is cached: the cache has")]);
      expect(await device.prepareModelFromCache?.(wrong)).toMatchObject({
        status: INVALID_ARGUMENT,
        message: expect.stringContaining("no token of 32 bytes"),
      });
    }
  });

  it("a driver or a device that is not an object is named", () => {
    expect(() => liftDevice("x", parseAnything("null"))).toThrow("lifting x: expected an IDevice, got null");
    expect(() => asV1_3(parseAnything("5"))).toThrow("presenting a device: expected a Device, got 5");
  });

  it("deadlines of HAL 1.3 that are not times are INVALID_ARGUMENT", async () => {
    const face = asV1_3(wholeDevice);
    for (const json of ["null", "5", '{ "kind": "nanosecondsSinceEpoch", "nanosecondsSinceEpoch": "soon" }']) {
      const callback = preparedCallback();
      const deadline: typeof none = parseAnything(json);
      const launched = face.prepareModel_1_3(model, 1, Priority.MEDIUM, deadline, [], [], token, callback);
      if (json === "5") continue;
      expect(launched.status).toBe(INVALID_ARGUMENT);
      expect((await callback.first).status).toBe(INVALID_ARGUMENT);
    }
  });
});
