/** A quantised network against its float form. */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { diffModel } from "./diff-model.ts";
import type { NamedModel } from "./match-networks.ts";
import { createNetworkJudge } from "./network-judge.ts";
import type { TensorValue } from "./prepared-part.ts";
import { convertValue } from "./recorded.ts";
import { judgeDiff } from "./verdict.ts";

async function right(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const size = 64;

/** x + x, then TANH. The quantised form holds its sum in a range of its own. */
function network(isQuantised: boolean, sumScale = 2 / 128): NamedModel {
  const model = new Model();
  const tensor = (scale: number) =>
    model.addOperand(
      isQuantised
        ? { type: "TENSOR_QUANT8_ASYMM", dimensions: [size], scale, zeroPoint: 128 }
        : { type: "TENSOR_FLOAT32", dimensions: [size] },
    );
  const none = model.addOperand({ type: "INT32" });
  model.setOperandValue(none, 0);
  const [input, sum, result] = [tensor(1 / 128), tensor(sumScale), tensor(1 / 128)] as const;
  model.addOperation("ADD", [input, input, none], [sum]);
  model.addOperation("TANH", [sum], [result]);
  model.identifyInputsAndOutputs([input], [result]);
  model.finish();
  return { model: model.hal, operandNames: [undefined, "input", "sum", "result"] };
}

const input: TensorValue = { bytes: Uint8Array.from({ length: size }, (_, index) => 4 * index), dimensions: [size] };

async function diffOf(sumScale?: number, steps = Number.POSITIVE_INFINITY) {
  const [judged, other, engine] = [network(true, sumScale), network(false), { devices: [await right()] }] as const;
  const inputs = [[input]];
  const judge = await createNetworkJudge({ judged, other, engine, inputs });
  return diffModel(judged.model, {
    judge,
    suspect: engine,
    inputs,
    allowance: { steps, bias: Number.POSITIVE_INFINITY },
  });
}

describe("a quantised network against its float form", () => {
  it("is held against the exact numbers, each operation by itself", async () => {
    const { operations, whole } = await diffOf();
    expect(operations.map(({ operation, verdict }) => [operation, verdict])).toEqual([
      ["ADD", "right"],
      ["TANH", "right"],
    ]);
    // Sums of multiples of 1/128 are multiples of 2/128.
    expect(operations[0]?.outputs[0]?.alone).toMatchObject({ differing: 0, largest: 0 });
    const alone = operations[1]?.outputs[0]?.alone;
    // No rounding is further off than half a step, so none counts as different, but all of them are noise.
    expect(alone?.largest).toBeGreaterThan(0.3);
    expect(alone?.largest).toBeLessThan(0.6);
    expect(alone?.signalToNoise).toBeGreaterThan(40);
    expect(whole[0]?.signalToNoise).toBe(alone?.signalToNoise);
  });

  it("names the operation whose range is too narrow, with the share that does not fit", async () => {
    const found = await diffOf(1 / 128);
    const { ranking, heaviest, isRight } = judgeDiff(found);
    expect(ranking[0]).toMatchObject({ index: 0, operation: "ADD" });
    expect(heaviest.map(({ index }) => index)).toEqual([0]);
    const alone = found.operations[0]?.outputs[0]?.alone;
    // Half of the sums lie beyond -1 and 1.
    expect(alone?.saturatedExpected).toBeCloseTo(0.5, 1);
    expect(alone?.largest).toBe(128);
    expect(isRight).toBe(true);
    // TANH gets the exact sums, as far as its own input can hold them.
    expect(found.operations[1]?.outputs[0]?.alone?.largest).toBeGreaterThan(1);
  });

  it("is wrong beyond an allowance in steps", async () => {
    expect((await diffOf(1 / 128, 200)).operations[0]?.verdict).toBe("right");
    expect((await diffOf(1 / 128, 127)).operations[0]?.verdict).toBe("wrong");
  });
});

describe("convertValue", () => {
  const as = (
    type: "TENSOR_FLOAT32" | "TENSOR_QUANT8_ASYMM" | "TENSOR_QUANT8_ASYMM_SIGNED",
    scale = 0,
    zeroPoint = 0,
  ) => ({
    type,
    scale,
    zeroPoint,
    isRelaxed: false,
  });
  const floats = (...elements: number[]): TensorValue => ({
    bytes: new Uint8Array(Float32Array.from(elements).buffer),
    dimensions: [elements.length],
  });

  it("rounds half away from zero, and holds elements at the ends of the range", () => {
    const { bytes } = convertValue(
      floats(0, 0.25, 0.24, -0.25, 63.5, 64, 1000, -64, -1000, Number.NaN),
      as("TENSOR_FLOAT32"),
      as("TENSOR_QUANT8_ASYMM", 0.5, 128),
    );
    expect([...bytes]).toEqual([128, 129, 128, 128, 255, 255, 255, 0, 0, 0]);
  });

  it("changes the scale of elements, and makes floats of them", () => {
    const value: TensorValue = { bytes: Uint8Array.of(0, 128, 130, 255), dimensions: [4] };
    const from = as("TENSOR_QUANT8_ASYMM", 0.5, 128);
    expect([...new Int8Array(convertValue(value, from, as("TENSOR_QUANT8_ASYMM_SIGNED", 1, 0)).bytes.buffer)]).toEqual([
      -64, 0, 1, 64,
    ]);
    expect([...new Float32Array(convertValue(value, from, as("TENSOR_FLOAT32")).bytes.buffer)]).toEqual([
      -64, 0, 1, 63.5,
    ]);
  });
});
