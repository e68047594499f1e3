import { DEVICE_TYPE_UNKNOWN, DeviceStatus, DeviceType, ErrorStatus, type V1_0 } from "@nnhal/types";
import { noPerformanceInfo } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { convertToV1_3 } from "./convert/v1-3.ts";
import { liftDevice } from "./index.ts";
import { driverV1_0, driverV1_1, driverV1_2, makeLifted } from "./old-driver.test-helper.ts";
import { model } from "./versions.test-helper.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE } = ErrorStatus;

describe("what an old driver says of itself", () => {
  it.each(["1.0", "1.1"] as const)("is little in HAL %s", (version) => {
    const { device } = makeLifted(version);
    expect(device.name).toBe(`old-${version}`);
    expect(device.halVersion).toBe(version);
    expect(device.getType()).toEqual({ status: NONE, type: DEVICE_TYPE_UNKNOWN });
    expect(device.getVersionString()).toEqual({ status: NONE, version: "UNKNOWN" });
    expect(device.getSupportedExtensions()).toEqual({ status: NONE, extensions: [] });
    expect(device.getNumberOfCacheFilesNeeded()).toEqual({ status: NONE, numModelCache: 0, numDataCache: 0 });
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
  });

  it("is all that HAL 1.2 asks", () => {
    const { device } = makeLifted("1.2");
    expect(device.getType()).toEqual({ status: NONE, type: DeviceType.ACCELERATOR });
    expect(device.getVersionString()).toEqual({ status: NONE, version: "12" });
    expect(device.getSupportedExtensions().extensions).toHaveLength(1);
    expect(device.getNumberOfCacheFilesNeeded()).toEqual({ status: NONE, numModelCache: 1, numDataCache: 1 });
  });

  it.each([
    ["1.0", driverV1_0().device.getCapabilities().capabilities],
    ["1.1", driverV1_1().device.getCapabilities_1_1().capabilities],
    ["1.2", driverV1_2().device.getCapabilities_1_2().capabilities],
  ] as const)("includes the newest capabilities that HAL %s has, converted", (version, newest) => {
    const answer = makeLifted(version).device.getCapabilities();
    expect(answer).toEqual({ status: NONE, capabilities: convertToV1_3.capabilities(newest) });
    expect(answer.capabilities.ifPerformance).toEqual(noPerformanceInfo);
  });

  it("is a failure if the driver fails or throws", () => {
    const { device: own } = driverV1_2();
    const breakIt = () => {
      throw new Error("transport");
    };
    const device = liftDevice("broken", {
      ...own,
      getCapabilities_1_2: breakIt,
      getType: breakIt,
      getVersionString: breakIt,
      getSupportedExtensions: breakIt,
      getNumberOfCacheFilesNeeded: breakIt,
      getStatus: breakIt,
      getSupportedOperations_1_2: breakIt,
    });
    expect(device.getCapabilities()).toMatchObject({
      status: GENERAL_FAILURE,
      message: "broken: getCapabilities threw: transport",
    });
    expect(device.getType().status).toBe(GENERAL_FAILURE);
    expect(device.getVersionString()).toMatchObject({ status: GENERAL_FAILURE, version: "" });
    expect(device.getSupportedExtensions()).toMatchObject({ status: GENERAL_FAILURE, extensions: [] });
    expect(device.getNumberOfCacheFilesNeeded().status).toBe(GENERAL_FAILURE);
    expect(device.getStatus()).toBe(DeviceStatus.UNKNOWN);
    expect(device.getSupportedOperations(model)).toMatchObject({ status: GENERAL_FAILURE, supported: [] });
    const unavailable: V1_0.IDevice = {
      ...driverV1_0().device,
      getCapabilities: () => JSON.parse(`{ "status": ${DEVICE_UNAVAILABLE} }`),
    };
    expect(liftDevice("busy", unavailable).getCapabilities()).toMatchObject({
      status: DEVICE_UNAVAILABLE,
      capabilities: { operandPerformance: [] },
    });
  });
});
