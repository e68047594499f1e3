/**
 * The network, as one table that both the TensorFlow.js model and the .tflite files are made from, and the trained weights in
 * .tflite's order. It is small on purpose, and uses the operators that small vision networks are made of. SOFTMAX follows the
 * last row; training works on its input.
 */
import { type Tensor, type Tensor4D, tensor4d, transpose } from "@tensorflow/tfjs-core";
import { initializers, layers, type Sequential, sequential } from "@tensorflow/tfjs-layers";
import { LABELS } from "./glyphs.ts";
import { INPUT_SIZE, normalise, PICTURE_BYTES } from "./input.ts";

/** Convolutions pad to keep the size (divided by the stride) and end in RELU6; pools halve the size. */
export type LayerPlan =
  | { kind: "CONV_2D"; name: string; filters: number; size: number; stride: number }
  | { kind: "DEPTHWISE_CONV_2D"; name: string; size: number }
  | { kind: "MAX_POOL_2D" | "AVERAGE_POOL_2D"; name: string }
  | { kind: "RESHAPE"; name: string }
  | { kind: "FULLY_CONNECTED"; name: string; units: number };

export const PLAN: readonly LayerPlan[] = [
  { kind: "CONV_2D", name: "edges", filters: 16, size: 3, stride: 2 },
  { kind: "DEPTHWISE_CONV_2D", name: "strokes_depthwise", size: 3 },
  { kind: "CONV_2D", name: "strokes", filters: 24, size: 1, stride: 1 },
  { kind: "MAX_POOL_2D", name: "strokes_pool" },
  { kind: "DEPTHWISE_CONV_2D", name: "parts_depthwise", size: 3 },
  { kind: "CONV_2D", name: "parts", filters: 48, size: 1, stride: 1 },
  { kind: "AVERAGE_POOL_2D", name: "parts_pool" },
  { kind: "RESHAPE", name: "features" },
  { kind: "FULLY_CONNECTED", name: "digits", units: LABELS.length },
];

/** Returns true if the layer has weights; the others (pools, RESHAPE) return values that were already in their input. */
export const hasWeights = ({ kind }: LayerPlan): boolean =>
  kind === "CONV_2D" || kind === "DEPTHWISE_CONV_2D" || kind === "FULLY_CONNECTED";

/**
 * The kernel and bias of one layer. Kernel: [out, height, width, in], depthwise [1, height, width, channels], fully
 * connected [out, in].
 */
export interface Weights {
  shape: readonly number[];
  kernel: Float32Array;
  bias: Float32Array;
}

export interface TrainedLayer {
  plan: LayerPlan;
  /** With batch 1. */
  outputShape: readonly number[];
  /** Absent for pools and RESHAPE. */
  weights?: Weights;
}

/** The untrained network. The seed decides the weights it starts from. */
export function buildNetwork(seed: number): Sequential {
  const network = sequential();
  for (const [index, plan] of PLAN.entries()) {
    const start = initializers.heNormal({ seed: seed + index });
    const shape = index === 0 ? { inputShape: [INPUT_SIZE, INPUT_SIZE, 3] } : {};
    const convolution = { name: plan.name, padding: "same", activation: "relu6", ...shape } as const;
    switch (plan.kind) {
      case "CONV_2D": {
        const { filters, size, stride } = plan;
        network.add(
          layers.conv2d({ ...convolution, filters, kernelSize: size, strides: stride, kernelInitializer: start }),
        );
        break;
      }
      case "DEPTHWISE_CONV_2D": {
        // One input channel feeds an output; heNormal would count them all.
        const depthwiseInitializer = initializers.truncatedNormal({
          stddev: Math.sqrt(2) / plan.size,
          seed: seed + index,
        });
        network.add(layers.depthwiseConv2d({ ...convolution, kernelSize: plan.size, depthwiseInitializer }));
        break;
      }
      case "MAX_POOL_2D":
        network.add(layers.maxPooling2d({ name: plan.name, poolSize: 2 }));
        break;
      case "AVERAGE_POOL_2D":
        network.add(layers.averagePooling2d({ name: plan.name, poolSize: 2 }));
        break;
      case "RESHAPE":
        network.add(layers.flatten({ name: plan.name }));
        break;
      case "FULLY_CONNECTED":
        network.add(layers.dense({ name: plan.name, units: plan.units, kernelInitializer: start }));
        break;
    }
  }
  return network;
}

/** The network's input for one or more pictures. */
export const pictureTensor = (pixels: Uint8Array): Tensor4D =>
  tensor4d(normalise(pixels), [pixels.length / PICTURE_BYTES, INPUT_SIZE, INPUT_SIZE, 3]);

/** Moves the output axis, which TensorFlow.js has last, to the front, where .tflite has it. */
async function readWeights(plan: LayerPlan, [kernel, bias]: readonly Tensor[]): Promise<Weights> {
  const outputFirst = plan.kind !== "DEPTHWISE_CONV_2D";
  const axes = kernel.shape.map((_, axis) => axis);
  const moved = transpose(kernel, outputFirst ? [axes.length - 1, ...axes.slice(0, -1)] : [3, 0, 1, 2]);
  const weights = {
    shape: moved.shape,
    kernel: await moved.data<"float32">(),
    bias: await bias.data<"float32">(),
  };
  moved.dispose();
  return weights;
}

/** Exports the trained weights, layer by layer. */
export function exportLayers(network: Sequential): Promise<TrainedLayer[]> {
  return Promise.all(
    PLAN.map(async (plan, index): Promise<TrainedLayer> => {
      const layer = network.layers[index];
      const outputShape = [1, ...[layer.outputShape].flat(2).slice(1).map(Number)];
      return hasWeights(plan)
        ? { plan, outputShape, weights: await readWeights(plan, layer.getWeights()) }
        : { plan, outputShape };
    }),
  );
}
