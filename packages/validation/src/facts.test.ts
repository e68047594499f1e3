import { DeviceStatus, DeviceType, ErrorStatus } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import {
  BrokenAnswer,
  readCacheFileCounts,
  readCapabilities,
  readDeviceStatus,
  readDeviceType,
  readExtensions,
  readOutcome,
  readSupport,
  readVersionString,
} from "./facts.ts";

const one = { execTime: 1, powerUsage: 1 };
const capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: one,
  relaxedFloat32toFloat16PerformanceTensor: one,
  operandPerformance: [{ type: 3, info: one }],
  ifPerformance: one,
  whilePerformance: one,
};

function expectBroken(read: () => unknown, message: string) {
  expect(read).toThrow(BrokenAnswer);
  expect(read).toThrow(message);
}

describe("the outcome of an answer", () => {
  it("has a message only with another status than NONE", () => {
    expect(readOutcome({ status: 0, message: "done" })).toEqual({ status: ErrorStatus.NONE });
    expect(readOutcome({ status: 2, message: "on fire" })).toEqual({ status: 2, message: "on fire" });
    expect(readOutcome({ status: 2, message: 5 })).toEqual({ status: 2 });
  });

  it.each([
    [undefined, "answered undefined, expected an object with a status"],
    [{}, "answered status undefined, which is not an ErrorStatus"],
    [{ status: 99 }, "answered status 99, which is not an ErrorStatus"],
  ])("of %j is broken", (answer, message) => expectBroken(() => readOutcome(answer), message));
});

describe("facts", () => {
  it("are copies, which do not change with the answer", () => {
    const given = structuredClone(capabilities);
    const read = readCapabilities(given);
    given.ifPerformance.execTime = -1;
    expect(read).toEqual(capabilities);
    const extension = { name: "com.example.test", operandTypes: [{ type: 1, isTensor: true, byteSize: 2 }] };
    expect(readExtensions([extension])).toEqual([extension]);
    expect(readExtensions([extension])[0]).not.toBe(extension);
  });

  it("that are capabilities are copied and checked once", () => {
    const read = readCapabilities(capabilities);
    expect(read).not.toBe(capabilities);
    expect(readCapabilities(read)).toBe(read);
    expect(() => Object.assign(read.ifPerformance, { execTime: -1 })).toThrow(TypeError);
    const frozen = Object.freeze({ ...capabilities, ifPerformance: { execTime: -1, powerUsage: 1 } });
    expectBroken(() => readCapabilities(frozen), "answered capabilities that are not valid");
  });

  it.each<[string, () => unknown, string]>([
    ["capabilities", () => readCapabilities(null), "answered capabilities that are not valid"],
    ["extensions", () => readExtensions([null]), "answered extensions that are not valid"],
    ["a device type", () => readDeviceType(77, true), "answered type 77, which is not a DeviceType"],
    ["a missing device type", () => readDeviceType(0, false), "answered type 0, which is not a DeviceType"],
    ["an empty version", () => readVersionString(""), 'answered version "", expected a text'],
    [
      "a number of model cache files",
      () => readCacheFileCounts({ numModelCache: 33, numDataCache: 0 }),
      "answered 33 model cache files where at most 32 are allowed",
    ],
    [
      "a number of data cache files",
      () => readCacheFileCounts({ numModelCache: 0, numDataCache: -1 }),
      "answered -1 data cache files where at most 32 are allowed",
    ],
    [
      "too few booleans",
      () => readSupport({ supported: [true] }, 2),
      "answered NONE with supported: expected 2 booleans, got 1 entries",
    ],
    ["other values than booleans", () => readSupport({ supported: [1] }, 1), "expected 1 booleans, got"],
    [
      "dispatches that are not numbers",
      () => readSupport({ supported: [true], dispatches: [Number.NaN] }, 1),
      "answered dispatches that are not 1 numbers of at least 0",
    ],
  ])("with %s that break a rule are broken", (_what, read, message) => expectBroken(read, message));

  it("on both sides of their bounds", () => {
    expect(readDeviceType(DeviceType.CPU, false)).toBe(DeviceType.CPU);
    expect(readDeviceType(0, true)).toBe(0);
    expect(readVersionString("1")).toBe("1");
    expect(readCacheFileCounts({ numModelCache: 32, numDataCache: 0 })).toEqual({ numModelCache: 32, numDataCache: 0 });
    expect([readDeviceStatus(DeviceStatus.BUSY), readDeviceStatus("?")]).toEqual([
      DeviceStatus.BUSY,
      DeviceStatus.UNKNOWN,
    ]);
    const answer = { supported: [true, false, false], reasons: ["ignored", "too large", 5], dispatches: [1, 0, 2] };
    expect(readSupport(answer, 3)).toEqual({
      supported: [true, false, false],
      reasons: [undefined, "too large", undefined],
      dispatches: [1, 0, 2],
    });
    expect(readSupport({ supported: [true] }, 1)).toEqual({ supported: [true], reasons: [undefined] });
  });
});
