/** Quantised tensors: what becomes of whole numbers where values are floats. */
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { Model, type OperandDescription, type OperandValue } from "@nnhal/runtime";
import type { Device, OperationTypeName } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

const byte = { type: "TENSOR_QUANT8_ASYMM" } as const;
const whole = { type: "TENSOR_INT32" } as const;

interface Argument extends OperandDescription {
  /** Absent: the model's input. */
  readonly value?: OperandValue | number;
  /** Scales along axis 0. */
  readonly scales?: readonly number[];
}

/** A model of one operation. */
function modelOf(type: OperationTypeName, args: readonly Argument[], result: OperandDescription): Model {
  const model = new Model();
  const inputs = args.map(({ value, scales, ...description }) => {
    const index = model.addOperand(description);
    if (scales) model.setOperandSymmPerChannelQuantParams(index, { scales, channelDim: 0 });
    if (value !== undefined) model.setOperandValue(index, value);
    return index;
  });
  const output = model.addOperand(result);
  model.addOperation(type, inputs, [output]);
  model.identifyInputsAndOutputs(
    inputs.filter((_, place) => args[place].value === undefined),
    [output],
  );
  model.finish();
  return model;
}

const float = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

let reference: Device;
beforeAll(async () => {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  reference = device;
});

describe.each(["webasm", "cpu"] as const)("in mode %s", (mode) => {
  const run = async (model: Model, input: Uint8Array) => {
    const [ours, theirs] = await Promise.all(
      [await deviceOn(mode), reference].map(async (device) => (await modelRunner(model.hal, [device]))([input])),
    );
    return { ours: [...ours[0]], theirs: [...theirs[0]] };
  };

  it("rounds to the nearest whole number, ties to the even one, and keeps within the type", async () => {
    const model = modelOf(
      "CONV_2D",
      [
        { ...byte, dimensions: [1, 1, 6, 1], scale: 0.5, zeroPoint: 128 },
        { ...byte, dimensions: [1, 1, 1, 1], scale: 1, value: Uint8Array.of(1) },
        { ...whole, dimensions: [1], scale: 0.5, value: Int32Array.of(0) },
        ...[0, 0, 0, 0, 1, 1, 0].map((value) => ({ type: "INT32", value }) as const),
      ],
      { ...byte, dimensions: [1, 1, 6, 1], scale: 1, zeroPoint: 10 },
    );
    // In steps of the output: 0.5, 1.5, -0.5, -1.5, 63.5 and -64.
    const { ours, theirs } = await run(model, Uint8Array.of(129, 131, 127, 125, 255, 0));
    expect(ours).toEqual([10, 12, 10, 8, 74, 0]);
    expect(theirs).toEqual(ours);
  });

  it("scales each channel of a filter separately", async () => {
    const filter = Int8Array.from({ length: 12 }, (_, index) => 37 * index - 127);
    const model = modelOf(
      "CONV_2D",
      [
        { ...byte, dimensions: [1, 2, 2, 3], scale: 0.25, zeroPoint: 100 },
        {
          type: "TENSOR_QUANT8_SYMM_PER_CHANNEL",
          dimensions: [4, 1, 1, 3],
          scales: [0.5, 0.125, 0.03125, 1],
          value: filter,
        },
        { ...whole, dimensions: [4], value: Int32Array.of(5, -700, 90_000, 0) },
        ...[0, 0, 0, 0, 1, 1, 1].map((value) => ({ type: "INT32", value }) as const),
      ],
      { ...byte, dimensions: [1, 2, 2, 4], scale: 8, zeroPoint: 3 },
    );
    const { ours, theirs } = await run(
      model,
      Uint8Array.from({ length: 12 }, (_, index) => 21 * index),
    );
    expect(ours).toEqual(theirs);
    expect(new Set(ours).size).toBeGreaterThan(6);
  });

  it("reads the real numbers of operands with different scales", async () => {
    const model = modelOf(
      "ADD",
      [
        { ...byte, dimensions: [4], scale: 0.5, zeroPoint: 128 },
        { ...byte, dimensions: [4], scale: 2, zeroPoint: 1, value: Uint8Array.of(1, 2, 0, 255) },
        { type: "INT32", value: 0 },
      ],
      { ...byte, dimensions: [4], scale: 1, zeroPoint: 20 },
    );
    const { ours, theirs } = await run(model, Uint8Array.of(128, 130, 120, 255));
    expect(ours).toEqual([20, 23, 14, 255]);
    expect(theirs).toEqual(ours);
  });

  it("compares the real numbers of an input and a constant as float32", async () => {
    const steps = Array.from({ length: 80 }, (_, index) => index - 15);
    const compare = (type: "EQUAL" | "LESS", left: number, right: number) =>
      modelOf(
        type,
        [
          { ...byte, dimensions: [steps.length], scale: left, zeroPoint: 49 },
          {
            ...byte,
            dimensions: [steps.length],
            scale: right,
            zeroPoint: 20,
            value: Uint8Array.from(steps, (step) => 20 + step),
          },
        ],
        { type: "TENSOR_BOOL8", dimensions: [steps.length] },
      );
    const same = await run(
      compare("EQUAL", 0.1, 0.1),
      Uint8Array.from(steps, (step) => 49 + step),
    );
    expect(same.ours).toEqual(steps.map(() => 1));
    // Three steps of 0.1 and one of 0.3: the products differ in more digits than float32 has.
    const thrice = Uint8Array.from(steps, (step) => 49 + 3 * step);
    for (const type of ["EQUAL", "LESS"] as const) {
      const { ours, theirs } = await run(compare(type, Math.fround(0.1), Math.fround(0.3)), thrice);
      expect(ours).toEqual(theirs);
      expect(new Set(theirs).size).toBe(2);
    }
  });

  it("quantises and dequantises", async () => {
    const quantise = modelOf("QUANTIZE", [{ type: "TENSOR_FLOAT32", dimensions: [5] }], {
      ...byte,
      dimensions: [5],
      scale: 0.5,
      zeroPoint: 10,
    });
    const whole = await run(quantise, float(0, 1.1, -100, 1000, -0.6));
    expect(whole.ours).toEqual([10, 12, 0, 255, 9]);
    expect(whole.theirs).toEqual(whole.ours);
    const dequantise = modelOf("DEQUANTIZE", [{ ...byte, dimensions: [3], scale: 0.5, zeroPoint: 10 }], {
      type: "TENSOR_FLOAT32",
      dimensions: [3],
    });
    const { ours, theirs } = await run(dequantise, Uint8Array.of(0, 10, 255));
    expect(ours).toEqual([...float(-5, 0, 122.5)]);
    expect(theirs).toEqual(ours);
  });

  it("refuses a tensor with a scale for each channel that is an input of the model", async () => {
    const model = modelOf(
      "DEQUANTIZE",
      [{ type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: [2, 2], scales: [1, 2] }],
      { type: "TENSOR_FLOAT32", dimensions: [2, 2] },
    );
    const { reasons } = await (await deviceOn(mode)).getSupportedOperations(model.hal);
    expect(reasons[0]).toContain("a scale for each channel that is not constant is not available");
  });
});
