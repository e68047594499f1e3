import { readTflite, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "./engine.ts";
import { LABELS } from "./glyphs.ts";
import { INPUT_QUANTISATION } from "./input.ts";
import { buildNetwork, exportLayers, hasWeights, PLAN, type TrainedLayer } from "./network.ts";
import { bestQuantisation, type Quantisation, quantiseValues } from "./quantise.ts";
import { floatModel, quantisedModel } from "./tflite-model.ts";

let layers: TrainedLayer[];
const outputs: Quantisation[] = PLAN.map((_, index) => ({ scale: (index + 1) / 16, zeroPoint: index }));

beforeAll(async () => {
  await openEngine();
  layers = await exportLayers(buildNetwork(1));
});

function tensorNamed(tensors: readonly TfliteTensor[], name: string): TfliteTensor {
  const tensor = tensors.find((each) => each.name === name);
  if (!tensor) throw new Error(`There is no tensor ${name}`);
  return tensor;
}

describe("floatModel", () => {
  it("is a chain of the planned operators that ends in SOFTMAX", () => {
    const [{ operators, tensors, inputs, outputs: results }] = readTflite(writeTflite(floatModel(layers))).subgraphs;
    expect(operators.map(({ name }) => name)).toEqual([...PLAN.map(({ kind }) => kind), "SOFTMAX"]);
    expect(operators.map((operator) => operator.inputs[0])).toEqual([
      inputs[0],
      ...operators.slice(0, -1).map((operator) => operator.outputs[0]),
    ]);
    expect(results).toEqual(operators.at(-1)?.outputs);
    expect(tensors[inputs[0]].shape).toEqual([1, 32, 32, 3]);
    expect(tensors[results[0]].shape).toEqual([1, LABELS.length]);
    expect(operators.map((operator) => tensors[operator.outputs[0]].shape.slice(1))).toEqual([
      [16, 16, 16],
      [16, 16, 16],
      [16, 16, 24],
      [8, 8, 24],
      [8, 8, 24],
      [8, 8, 48],
      [4, 4, 48],
      [768],
      [10],
      [10],
    ]);
  });

  it("has every kernel with its output axis first, and the network's own numbers", async () => {
    const [{ tensors }] = readTflite(writeTflite(floatModel(layers))).subgraphs;
    expect(tensorNamed(tensors, "edges/kernel").shape).toEqual([16, 3, 3, 3]);
    expect(tensorNamed(tensors, "strokes_depthwise/kernel").shape).toEqual([1, 3, 3, 16]);
    expect(tensorNamed(tensors, "digits/kernel").shape).toEqual([10, 768]);
    for (const [index, plan] of PLAN.entries()) {
      if (!hasWeights(plan)) continue;
      const [original] = buildNetwork(1).layers[index].getWeights();
      const kernel = await original.data<"float32">();
      const { data = new Uint8Array(0) } = tensorNamed(tensors, `${plan.name}/kernel`);
      const written = new Float32Array(data.slice().buffer);
      const outputCount = plan.kind === "DEPTHWISE_CONV_2D" ? 1 : (original.shape.at(-1) ?? 0);
      const inner = kernel.length / outputCount;
      for (let out = 0; out < outputCount; out++) {
        for (let at = 0; at < inner; at++) expect(written[out * inner + at]).toBe(kernel[at * outputCount + out]);
      }
    }
  });
});

describe("quantisedModel", () => {
  it("is uint8 throughout, with int32 biases at the product of the scales", () => {
    const [{ operators, tensors, inputs, outputs: results }] = readTflite(
      writeTflite(quantisedModel(layers, outputs)),
    ).subgraphs;
    expect(tensors[inputs[0]].quantization).toMatchObject({ scale: [1 / 128], zeroPoint: [128] });
    expect(tensors[results[0]].quantization).toMatchObject({ scale: [1 / 256], zeroPoint: [0] });
    for (const [index, { plan, weights }] of layers.entries()) {
      const output = tensors[operators[index].outputs[0]];
      expect(output).toMatchObject({
        type: "UINT8",
        quantization: { scale: [outputs[index].scale], zeroPoint: [index] },
      });
      if (!weights) continue;
      const chosen = bestQuantisation(weights.kernel);
      const kernel = tensorNamed(tensors, `${plan.name}/kernel`);
      expect(kernel).toMatchObject({
        type: "UINT8",
        quantization: { scale: [chosen.scale], zeroPoint: [chosen.zeroPoint] },
      });
      expect(kernel.data).toEqual(quantiseValues(weights.kernel, chosen));
      const inputScale = (outputs[index - 1] ?? INPUT_QUANTISATION).scale;
      expect(tensorNamed(tensors, `${plan.name}/bias`)).toMatchObject({
        type: "INT32",
        quantization: { scale: [Math.fround(inputScale * chosen.scale)], zeroPoint: [0] },
      });
    }
  });

  it("refuses a layer that HAL 1.0 would refuse: output scale not above input scale * kernel scale", () => {
    const { weights } = layers[0];
    if (!weights) throw new Error("The first layer has weights");
    const product = Math.fround(INPUT_QUANTISATION.scale * bestQuantisation(weights.kernel).scale);
    const withFirst = (scale: number): Quantisation[] => [{ scale, zeroPoint: 0 }, ...outputs.slice(1)];
    expect(() => quantisedModel(layers, withFirst(product))).toThrow(/Layer edges: output scale/);
    expect(() => quantisedModel(layers, withFirst(product * 1.001))).not.toThrow();
  });
});
