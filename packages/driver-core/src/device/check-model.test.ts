import { defineOperation, tensor } from "@nnhal/operations/authoring";
import { describeExtension, modelOf } from "@nnhal/test-kit/models";
import { ErrorStatus, type Memory, type Model, OperandLifeTime } from "@nnhal/types";
import { sealModel } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { absModel, absRequest, fakeDevice } from "./fake-backend.test-helper.ts";

/** A device, and how often its backend was asked whether it supports an operation. */
async function askedDevice() {
  const asked: string[] = [];
  const device = await fakeDevice({
    supports({ definition }) {
      asked.push(definition.name);
      return { supported: true };
    },
  });
  return { device, asked };
}

function seal(model: Model): Model {
  const result = sealModel(model);
  if ("issues" in result) throw new Error(result.issues.map(({ message }) => message).join("; "));
  return result.model;
}

describe("a model that is sealed", () => {
  it("is looked at once by a device, however often it comes", async () => {
    const { device, asked } = await askedDevice();
    const model = seal(absModel);
    expect(device.getSupportedOperations(model)).toMatchObject({ status: ErrorStatus.NONE, supported: [true] });
    for (let count = 0; count < 2; count++) {
      const { preparedModel } = await device.prepareModel(model);
      expect((await preparedModel?.execute(absRequest().request))?.status).toBe(ErrorStatus.NONE);
    }
    expect(asked).toEqual(["ABS"]);
  });

  it("is looked at by each device of its own", async () => {
    const [first, second] = await Promise.all([askedDevice(), askedDevice()]);
    const model = seal(absModel);
    for (const { device } of [first, second]) expect((await device.prepareModel(model)).status).toBe(ErrorStatus.NONE);
    expect([first.asked, second.asked]).toEqual([["ABS"], ["ABS"]]);
  });

  it("gets answers that its caller cannot change for others", async () => {
    const { device } = await askedDevice();
    const model = seal(absModel);
    const { reasons } = device.getSupportedOperations(model);
    expect(() => (reasons as string[]).fill("changed")).toThrow(TypeError);
  });

  it("is validated with the extensions of the device", async () => {
    const twoInputs = defineOperation({
      name: "TWO_INPUTS",
      code: 0x1_0003,
      summary: "Reads two tensors.",
      params: [tensor("left"), tensor("right")],
      outputs: [tensor("output")],
      types: [["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
    });
    const operations = absModel.main.operations.map((abs) => ({ ...abs, type: twoInputs.code }));
    const model = seal(modelOf({ ...absModel.main, operations }));
    const device = await fakeDevice(describeExtension(twoInputs));
    expect(await device.prepareModel(model)).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      message: expect.stringContaining("TWO_INPUTS: expected 2 inputs and 1 outputs, got 1 inputs"),
    });
  });

  it("is refused if one of its pools has been transferred", async () => {
    const buffer = new ArrayBuffer(16);
    const pool: Memory = { name: "ashmem", size: 16, handle: { kind: "buffer", buffer, byteOffset: 0 } };
    const model = seal({ ...absModel, pools: [pool] });
    const { device } = await askedDevice();
    expect((await device.prepareModel(model)).status).toBe(ErrorStatus.NONE);
    structuredClone(buffer, { transfer: [buffer] });
    expect(await device.prepareModel(model)).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: expect.stringContaining("main pool 0"),
    });
  });
});

describe("a model that is not sealed", () => {
  const change = (model: Model) => {
    const lifetime = OperandLifeTime.TEMPORARY_VARIABLE;
    return { ...model, main: { ...model.main, operands: model.main.operands.map((one) => ({ ...one, lifetime })) } };
  };

  it("is checked in each call", async () => {
    const { device, asked } = await askedDevice();
    const main = { ...absModel.main };
    const model = { ...absModel, main };
    expect(device.getSupportedOperations(model).status).toBe(ErrorStatus.NONE);
    expect((await device.prepareModel(model)).status).toBe(ErrorStatus.NONE);
    expect(asked).toEqual(["ABS", "ABS"]);
    main.operands = change(model).main.operands;
    expect(device.getSupportedOperations(model).status).toBe(ErrorStatus.INVALID_ARGUMENT);
    expect((await device.prepareModel(model)).status).toBe(ErrorStatus.INVALID_ARGUMENT);
  });

  it("is checked even if it is a frozen copy of a sealed one", async () => {
    const { device } = await askedDevice();
    const forged = Object.freeze({ ...seal(absModel), main: change(absModel).main });
    expect((await device.prepareModel(forged)).status).toBe(ErrorStatus.INVALID_ARGUMENT);
  });
});
