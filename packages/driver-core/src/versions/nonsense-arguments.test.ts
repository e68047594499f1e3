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
