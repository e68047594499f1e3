/**
 * The trained network as a .tflite model, in two encodings: float32, and the classic uint8 form (TENSOR_QUANT8_ASYMM
 * for everything, INT32 biases) that drivers have run since HAL 1.0.
 */
import type { TfliteModel, TfliteOperator, TfliteTensor } from "@nnhal/tflite";
import { LABELS } from "./glyphs.ts";
import { INPUT_QUANTISATION, INPUT_SIZE } from "./input.ts";
import type { LayerPlan, TrainedLayer, Weights } from "./network.ts";
import { bestQuantisation, type Quantisation, quantiseBias, quantiseValues } from "./quantise.ts";

/** Encoding of values as tensors. Layers count from 0; -1 is the network's input and the number of layers is its output. */
interface Encoding {
  activation(name: string, shape: readonly number[], layer: number): TfliteTensor;
  /** Kernel, then bias. */
  weights(name: string, weights: Weights, layer: number): [TfliteTensor, TfliteTensor];
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const asQuantization = ({ scale, zeroPoint }: Quantisation): NonNullable<TfliteTensor["quantization"]> => ({
  scale: [scale],
  zeroPoint: [zeroPoint],
  quantizedDimension: 0,
});

const floatEncoding: Encoding = {
  activation: (name, shape) => ({ name, shape, type: "FLOAT32", isVariable: false }),
  weights(name, { shape, kernel, bias }) {
    const constant = { type: "FLOAT32", isVariable: false } as const;
    return [
      { ...constant, name: `${name}/kernel`, shape, data: bytesOf(kernel) },
      { ...constant, name: `${name}/bias`, shape: [bias.length], data: bytesOf(bias) },
    ];
  },
};

/** The HAL fixes the quantisation of SOFTMAX's output. */
const PROBABILITY_QUANTISATION: Quantisation = { scale: 1 / 256, zeroPoint: 0 };

/** Outputs holds the quantisation of each layer's output. */
function quantisedEncoding(outputs: readonly Quantisation[]): Encoding {
  const quantisationAt = (layer: number): Quantisation =>
    layer < 0 ? INPUT_QUANTISATION : (outputs[layer] ?? PROBABILITY_QUANTISATION);
  return {
    activation: (name, shape, layer) => ({
      name,
      shape,
      type: "UINT8",
      isVariable: false,
      quantization: asQuantization(quantisationAt(layer)),
    }),
    weights(name, { shape, kernel, bias }, layer) {
      const kernelQuantisation = bestQuantisation(kernel);
      const { scale, values } = quantiseBias(bias, quantisationAt(layer - 1), kernelQuantisation);
      const outputScale = quantisationAt(layer).scale;
      if (outputScale <= scale) {
        // HAL 1.0 and 1.1 refuse such a layer.
        throw new RangeError(
          `Layer ${name}: output scale ${outputScale} is not above input scale * kernel scale, ${scale}`,
        );
      }
      return [
        {
          name: `${name}/kernel`,
          shape,
          type: "UINT8",
          isVariable: false,
          data: quantiseValues(kernel, kernelQuantisation),
          quantization: asQuantization(kernelQuantisation),
        },
        {
          name: `${name}/bias`,
          shape: [bias.length],
          type: "INT32",
          isVariable: false,
          data: bytesOf(values),
          quantization: asQuantization({ scale, zeroPoint: 0 }),
        },
      ];
    },
  };
}

function optionsOf(plan: LayerPlan): TfliteOperator["options"] {
  const stride = (step: number) => ({ strideW: step, strideH: step });
  const convolution = { padding: "SAME", fusedActivationFunction: "RELU6" };
  switch (plan.kind) {
    case "CONV_2D":
      return { ...convolution, ...stride(plan.stride) };
    case "DEPTHWISE_CONV_2D":
      return { ...convolution, ...stride(1), depthMultiplier: 1 };
    case "MAX_POOL_2D":
    case "AVERAGE_POOL_2D":
      return { padding: "VALID", ...stride(2), filterWidth: 2, filterHeight: 2, fusedActivationFunction: "NONE" };
    case "FULLY_CONNECTED":
      return { fusedActivationFunction: "NONE" };
    case "RESHAPE":
      return {};
  }
}

function assemble(layers: readonly TrainedLayer[], encoding: Encoding, description: string): TfliteModel {
  const tensors: TfliteTensor[] = [];
  const operators: TfliteOperator[] = [];
  const add = (tensor: TfliteTensor): number => tensors.push(tensor) - 1;

  const input = add(encoding.activation("picture", [1, INPUT_SIZE, INPUT_SIZE, 3], -1));
  let current = input;
  for (const [index, { plan, outputShape, weights }] of layers.entries()) {
    const inputs = [current];
    let options = optionsOf(plan);
    if (weights) inputs.push(...encoding.weights(plan.name, weights, index).map(add));
    if (plan.kind === "RESHAPE") {
      const shape = bytesOf(Int32Array.from(outputShape));
      inputs.push(
        add({ name: `${plan.name}/shape`, shape: [outputShape.length], type: "INT32", isVariable: false, data: shape }),
      );
      options = { newShape: outputShape };
    }
    current = add(encoding.activation(plan.name, outputShape, index));
    operators.push({ name: plan.kind, version: 1, inputs, outputs: [current], options });
  }
  const output = add(encoding.activation("probabilities", [1, LABELS.length], layers.length));
  operators.push({ name: "SOFTMAX", version: 1, inputs: [current], outputs: [output], options: { beta: 1 } });

  const subgraph = { name: "digits", tensors, operators, inputs: [input], outputs: [output] };
  return { version: 3, description, subgraphs: [subgraph], metadata: [], signatures: [] };
}

export const floatModel = (layers: readonly TrainedLayer[]): TfliteModel =>
  assemble(layers, floatEncoding, "Hand-drawn digits, float32");

/** Outputs holds the quantisation of each layer's output. */
export const quantisedModel = (layers: readonly TrainedLayer[], outputs: readonly Quantisation[]): TfliteModel =>
  assemble(layers, quantisedEncoding(outputs), "Hand-drawn digits, quantised to uint8");
