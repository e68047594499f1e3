/** The HAL version for which `load` imports: the newest that all devices have. */
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import type { Device, HalVersion } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { halVersionOf } from "./devices.ts";
import { load } from "./load.ts";
import { modelOf, tensor } from "./models.test-helper.ts";

const shape = [2, 2, 2];

/** A model that multiplies matrices. */
const multiplying = modelOf({
  tensors: [tensor("left", { shape }), tensor("right", { shape }), tensor("product", { shape })],
  inputs: [0, 1],
  outputs: [2],
  operators: [
    { name: "BATCH_MATMUL", version: 1, inputs: [0, 1], outputs: [2], options: { adjX: false, adjY: false } },
  ],
});

describe("load", () => {
  let reference: Extract<Awaited<ReturnType<typeof openDevice>>, Device>;
  beforeAll(async () => {
    const opened = await openDevice({ backend: createReferenceBackend({ extensions: [tfliteExtension] }) });
    if ("unavailable" in opened) throw new Error(opened.unavailable);
    reference = opened;
  });
  afterAll(() => reference.close());

  /** The reference as a device of another version. */
  const deviceOf = (halVersion: HalVersion | undefined): Device => {
    const { halVersion: _, ...others } = reference;
    return { ...others, name: `own-${halVersion}`, ...(halVersion && { halVersion }) };
  };

  it.each<[string, HalVersion | undefined, string]>([
    ["that states none", undefined, "nnhal.tflite BATCH_MATMUL"],
    ["of AIDL 1", "aidl1", "nnhal.tflite BATCH_MATMUL"],
    ["of AIDL 2", "aidl2", "BATCH_MATMUL"],
  ])("for a device %s takes the operations of its version", async (_, version, operation) => {
    const model = await load(multiplying, { engines: [], devices: [deviceOf(version)] });
    expect((await model.explain()).operations.map((each) => each.operation)).toEqual([operation]);
    const left = Float32Array.of(1, 2, 3, 4, 0, 1, 1, 0);
    const { product } = await model.run({ left, right: Float32Array.of(1, 0, 0, 1, 5, 6, 7, 8) });
    expect([...(product?.data ?? [])]).toEqual([1, 2, 3, 4, 7, 8, 5, 6]);
    await model.close();
  });

  it("for engines takes those of the newest", async () => {
    for (const devices of ["auto", "reference", ["reference"]]) {
      const model = await load(multiplying, { engines: [], devices });
      expect((await model.explain()).operations.map(({ operation }) => operation)).toEqual(["BATCH_MATMUL"]);
      await model.close();
    }
  });

  it.each<[readonly (HalVersion | undefined)[], HalVersion]>([
    [[], "aidl4"],
    [["aidl4", "aidl2", "aidl3"], "aidl2"],
    [["aidl2", undefined], "1.3"],
    [["1.1", "aidl4"], "1.1"],
  ])("for devices of %j takes %s", (versions, expected) => {
    expect(halVersionOf({ devices: ["reference", ...versions.map(deviceOf)] })).toBe(expected);
  });
});
