/**
 * Writes MobileNets with random weights as .tflite files, for `nnhal bench`: v1 of width 0.75 for 192 x 192 pixels and v2 for 224 x 224,
 * each as float and as uint8. The uint8 weights use the whole range of their bytes, as those of networks that are trained for it do.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source apps/cli/bench/networks.ts FOLDER`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { elementAt, elementCount } from "@nnhal/operations";
import { type TfliteModel, type TfliteOperator, type TfliteTensor, writeTflite } from "@nnhal/tflite";

/** An image of the network: its tensor and its extents. */
interface Image {
  readonly tensor: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  /** Of its quantisation. */
  readonly scale: number;
}

interface Layer {
  readonly channels: number;
  readonly kernel: number;
  readonly stride: number;
  readonly isDepthwise: boolean;
  /** True if the result is limited to 0 to 6. If not, it is centred around 0. */
  readonly isLimited: boolean;
}

/** Random numbers of a normal distribution, the same in each run. */
function normals(): () => number {
  let state = 1;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

const limitedScale = 6 / 255;
const centredScale = 8 / 255;

/** A network that is being built. */
function createNetwork(isFloat: boolean, size: number) {
  const tensors: TfliteTensor[] = [];
  const operators: TfliteOperator[] = [];
  const next = normals();
  const add = (tensor: Omit<TfliteTensor, "name" | "isVariable">): number => {
    const index = tensors.push({ ...tensor, name: `t${tensors.length}`, isVariable: false }) - 1;
    return index;
  };
  const quantise = (scale: number, zeroPoint: number) => ({
    quantization: { scale: [scale], zeroPoint: [zeroPoint], quantizedDimension: 0 },
  });
  const image = (height: number, width: number, channels: number, isLimited: boolean): Image => {
    const scale = isLimited ? limitedScale : centredScale;
    const shape = [1, height, width, channels];
    const tensor = isFloat
      ? add({ shape, type: "FLOAT32" })
      : add({ shape, type: "UINT8", ...quantise(scale, isLimited ? 0 : 128) });
    return { tensor, height, width, channels, scale };
  };
  const bytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView<ArrayBuffer>) =>
    new Uint8Array(buffer, byteOffset, byteLength);
  const weights = (shape: readonly number[], fanIn: number): { readonly tensor: number; readonly scale: number } => {
    const reals = Float32Array.from({ length: elementCount(shape) }, () => next() * Math.sqrt(2 / fanIn));
    if (isFloat) return { tensor: add({ shape, type: "FLOAT32", data: bytes(reals) }), scale: 1 };
    let [least, most] = [0, 0];
    for (const real of reals) [least, most] = [Math.min(least, real), Math.max(most, real)];
    const scale = (most - least) / 255;
    const zeroPoint = Math.round(-least / scale);
    const data = Uint8Array.from(reals, (real) => Math.max(0, Math.min(255, Math.round(real / scale) + zeroPoint)));
    return { tensor: add({ shape, type: "UINT8", data, ...quantise(scale, zeroPoint) }), scale };
  };
  const bias = (channels: number, scale: number): number => {
    const reals = Array.from({ length: channels }, () => 0.1 * next());
    if (isFloat) return add({ shape: [channels], type: "FLOAT32", data: bytes(Float32Array.from(reals)) });
    const data = bytes(Int32Array.from(reals, (real) => Math.round(real / scale)));
    return add({ shape: [channels], type: "INT32", data, ...quantise(scale, 0) });
  };
  const convolution = (from: Image, { channels, kernel, stride, isDepthwise, isLimited }: Layer): Image => {
    const shape = isDepthwise ? [1, kernel, kernel, channels] : [channels, kernel, kernel, from.channels];
    const filter = weights(shape, kernel * kernel * (isDepthwise ? 1 : from.channels));
    const to = image(Math.ceil(from.height / stride), Math.ceil(from.width / stride), channels, isLimited);
    const shared = {
      padding: "SAME",
      strideW: stride,
      strideH: stride,
      fusedActivationFunction: isLimited ? "RELU6" : "NONE",
      dilationWFactor: 1,
      dilationHFactor: 1,
    };
    operators.push({
      name: isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D",
      version: 1,
      inputs: [from.tensor, filter.tensor, bias(channels, from.scale * filter.scale)],
      outputs: [to.tensor],
      options: isDepthwise ? { ...shared, depthMultiplier: 1 } : shared,
    });
    return to;
  };
  const sum = (left: Image, right: Image): Image => {
    const to = image(left.height, left.width, left.channels, false);
    const options = { fusedActivationFunction: "NONE", potScaleInt16: false };
    operators.push({ name: "ADD", version: 1, inputs: [left.tensor, right.tensor], outputs: [to.tensor], options });
    return to;
  };
  const pool = (from: Image): Image => {
    const to = image(1, 1, from.channels, true);
    const options = {
      padding: "VALID",
      strideW: 1,
      strideH: 1,
      filterWidth: from.width,
      filterHeight: from.height,
      fusedActivationFunction: "NONE",
    };
    operators.push({ name: "AVERAGE_POOL_2D", version: 1, inputs: [from.tensor], outputs: [to.tensor], options });
    return to;
  };
  const softmax = (from: Image): number => {
    const shape = [1, from.channels];
    const type = isFloat ? "FLOAT32" : "UINT8";
    const row = add({ shape, type, ...(isFloat ? {} : quantise(from.scale, 128)) });
    const result = add({ shape, type, ...(isFloat ? {} : quantise(1 / 256, 0)) });
    operators.push(
      { name: "RESHAPE", version: 1, inputs: [from.tensor], outputs: [row], options: { newShape: shape } },
      { name: "SOFTMAX", version: 1, inputs: [row], outputs: [result], options: { beta: 1 } },
    );
    return result;
  };
  const input = image(size, size, 3, false);
  const write = (output: number): Uint8Array => {
    const subgraph = { name: "main", tensors, operators, inputs: [input.tensor], outputs: [output] };
    const model: TfliteModel = {
      version: 3,
      description: "random",
      subgraphs: [subgraph],
      metadata: [],
      signatures: [],
    };
    return writeTflite(model);
  };
  return { input, convolution, sum, pool, softmax, written: write };
}

const plain = { kernel: 1, stride: 1, isDepthwise: false, isLimited: true };

function mobileNetV1(isFloat: boolean, width: number, size: number): Uint8Array {
  const { input, convolution, pool, softmax, written } = createNetwork(isFloat, size);
  const layers = [
    [64, 1],
    [128, 2],
    [128, 1],
    [256, 2],
    [256, 1],
    [512, 2],
  ] as const;
  const last = [
    [512, 1],
    [512, 1],
    [512, 1],
    [512, 1],
    [512, 1],
    [1024, 2],
    [1024, 1],
  ] as const;
  let image = convolution(input, { ...plain, channels: 32 * width, kernel: 3, stride: 2 });
  for (const [channels, stride] of [...layers, ...last]) {
    image = convolution(image, { ...plain, channels: image.channels, kernel: 3, stride, isDepthwise: true });
    image = convolution(image, { ...plain, channels: channels * width });
  }
  return written(softmax(convolution(pool(image), { ...plain, channels: 1001, isLimited: false })));
}

function mobileNetV2(isFloat: boolean, size: number): Uint8Array {
  const { input, convolution, sum, pool, softmax, written } = createNetwork(isFloat, size);
  const groups = [
    [1, 16, 1, 1],
    [6, 24, 2, 2],
    [6, 32, 3, 2],
    [6, 64, 4, 2],
    [6, 96, 3, 1],
    [6, 160, 3, 2],
    [6, 320, 1, 1],
  ];
  let image = convolution(input, { ...plain, channels: 32, kernel: 3, stride: 2 });
  for (const [expansion = 1, channels = 1, count = 1, first = 1] of groups) {
    for (let place = 0; place < count; place++) {
      const stride = place === 0 ? first : 1;
      const wide = expansion * image.channels;
      const expanded = expansion === 1 ? image : convolution(image, { ...plain, channels: wide });
      const filtered = convolution(expanded, { ...plain, channels: wide, kernel: 3, stride, isDepthwise: true });
      const projected = convolution(filtered, { ...plain, channels, isLimited: false });
      image = place === 0 ? projected : sum(image, projected);
    }
  }
  const features = convolution(image, { ...plain, channels: 1280 });
  return written(softmax(convolution(pool(features), { ...plain, channels: 1001, isLimited: false })));
}

const folder = elementAt(process.argv.slice(2), 0);
mkdirSync(folder, { recursive: true });
for (const isFloat of [true, false]) {
  const type = isFloat ? "float" : "uint8";
  writeFileSync(join(folder, `mobilenet_v1_0.75_192_${type}.tflite`), mobileNetV1(isFloat, 0.75, 192));
  writeFileSync(join(folder, `mobilenet_v2_1.0_224_${type}.tflite`), mobileNetV2(isFloat, 224));
}
