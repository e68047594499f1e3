/** Normalisations of elements far from 0, on every engine: the mean is rounded in float32, and what that leaves must not stay. */
import { gpujsBackend } from "@nnhal/backend-gpujs";
import { ortBackend } from "@nnhal/backend-ort";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { backend as wasm } from "@nnhal/backend-wasm";
import { modelRunner } from "@nnhal/conformance";
import { Model } from "@nnhal/runtime";
import type { Device, Model as HalModel } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { deviceOf } from "./devices.test-helper.ts";

const [pixels, channels] = [256, 4];
const dimensions = [1, 16, 16, channels];

function instanceNormalization(): HalModel {
  const model = new Model();
  const tensor = () => model.addOperand({ type: "TENSOR_FLOAT32", dimensions });
  const scalar = (value: number) => {
    const index = model.addOperand({ type: "FLOAT32" });
    model.setOperandValue(index, value);
    return index;
  };
  const nchw = model.addOperand({ type: "BOOL" });
  model.setOperandValue(nchw, false);
  const [input, output] = [tensor(), tensor()];
  model.addOperation("INSTANCE_NORMALIZATION", [input, scalar(1), scalar(0), scalar(1e-5), nchw], [output]);
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return model.hal;
}

/** Elements from `mean - 1` to `mean + 1`, as float32 has them. */
function elementsAround(mean: number): Float32Array {
  return Float32Array.from({ length: pixels * channels }, (_, index) => mean + Math.sin(index * 12.9898));
}

/** The formula of the HAL, in float64. */
function normalise(x: Float32Array): Float64Array {
  const result = new Float64Array(x.length);
  for (let channel = 0; channel < channels; channel++) {
    const own = [...x].filter((_, index) => index % channels === channel);
    const mean = own.reduce((sum, value) => sum + value, 0) / pixels;
    const variance = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / pixels;
    for (const [pixel, value] of own.entries())
      result[pixel * channels + channel] = (value - mean) / Math.sqrt(variance + 1e-5);
  }
  return result;
}

describe.each([
  ["ort", ortBackend],
  ["tfjs", tfjsBackend],
  ["gpujs", gpujsBackend],
  ["wasm", () => wasm],
] as const)("INSTANCE_NORMALIZATION on %s", (_, backend) => {
  let device: Device;
  beforeAll(async () => {
    device = await deviceOf(backend());
  }, 60_000);

  it.each([0, 1000, -10_000, 1_000_000])("of elements around %i", async (mean) => {
    const run = await modelRunner(instanceNormalization(), [device]);
    const x = elementsAround(mean);
    const [bytes = new Uint8Array()] = await run([new Uint8Array(x.buffer)]);
    const found = new Float32Array(bytes.slice().buffer);
    const furthest = Math.max(...normalise(x).map((value, index) => Math.abs(value - (found[index] ?? Number.NaN))));
    // A few units in the last place of elements of about 1.
    expect(furthest).toBeLessThan(2e-6);
  });
});
