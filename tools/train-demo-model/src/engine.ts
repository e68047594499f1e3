/**
 * TensorFlow.js on its WASM backend, made complete enough to train with. The backend is fast at convolutions but has
 * no kernels for their filter gradients, nor for the input gradient of a depthwise one; the three here fill the gap
 * out of operations that it does have. Dilation is 1; depthwise convolutions have stride 1, an odd filter and padding
 * "same".
 */
import "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";

type Shape4D = [number, number, number, number];
type Attributes = tf.NamedAttrMap | undefined;

const isTensor4D = (value: unknown): value is tf.Tensor4D => value instanceof tf.Tensor && value.rank === 4;

function tensor4D(inputs: tf.NamedTensorInfoMap, name: string): tf.Tensor4D {
  const tensor = inputs[name];
  if (!isTensor4D(tensor)) throw new TypeError(`Gradient of a convolution: ${name} is not a tensor of rank 4`);
  return tensor;
}

function shape4D(attributes: Attributes, name: string): Shape4D {
  const value = attributes?.[name];
  if (!Array.isArray(value) || value.length !== 4)
    throw new TypeError(`Gradient of a convolution: ${name} is ${value}`);
  const [a, b, c, d] = value.map(Number);
  return [a, b, c, d];
}

const strideOf = (attributes: Attributes): number => Number([attributes?.strides].flat()[0]);

/** Zero cells before and after one spatial dimension. */
function computePadding(
  size: number,
  outputSize: number,
  filterSize: number,
  stride: number,
  pad: unknown,
): [number, number] {
  if (pad === "valid") return [0, 0];
  if (pad !== "same")
    throw new RangeError(`Gradient of a convolution: padding is ${pad}, only "same" and "valid" are known`);
  const total = Math.max(0, (outputSize - 1) * stride + filterSize - size);
  return [Math.floor(total / 2), Math.ceil(total / 2)];
}

/** The input with the zeros around it that the convolution saw. */
function padInput(x: tf.Tensor4D, dy: tf.Tensor4D, filterShape: Shape4D, attributes: Attributes): tf.Tensor4D {
  const [stride, pad] = [strideOf(attributes), attributes?.pad];
  const rows = computePadding(x.shape[1], dy.shape[1], filterShape[0], stride, pad);
  const columns = computePadding(x.shape[2], dy.shape[2], filterShape[1], stride, pad);
  return tf.pad(x, [[0, 0], rows, columns, [0, 0]]);
}

/**
 * dFilter[i, j, c, o] = sum over n, y, x of input[n, y * stride + i, x * stride + j, c] * dy[n, y, x, o]. That sum is
 * itself a convolution: channels become the batch, the batch becomes the channels, dy becomes the filter and the
 * stride its dilation.
 */
function filterGradient(x: tf.Tensor4D, dy: tf.Tensor4D, attributes: Attributes): tf.Tensor4D {
  const filterShape = shape4D(attributes, "filterShape");
  const [height, width, channels, outputs] = filterShape;
  const input = tf.transpose(padInput(x, dy, filterShape, attributes), [3, 1, 2, 0]);
  const all = tf.conv2d(input, tf.transpose(dy, [1, 2, 0, 3]), 1, "valid", "NHWC", strideOf(attributes));
  return tf.transpose(tf.slice(all, [0, 0, 0, 0], [channels, height, width, outputs]), [1, 2, 0, 3]);
}

/** dFilter[i, j, c] = sum over n, y, x of input[n, y + i, x + j, c] * dy[n, y, x, c]. */
function depthwiseFilterGradient(x: tf.Tensor4D, dy: tf.Tensor4D, attributes: Attributes): tf.Tensor4D {
  const filterShape = shape4D(attributes, "filterShape");
  const input = padInput(x, dy, filterShape, attributes);
  const sums: tf.Tensor[] = [];
  for (let row = 0; row < filterShape[0]; row++) {
    for (let column = 0; column < filterShape[1]; column++) {
      sums.push(tf.sum(tf.mul(tf.slice(input, [0, row, column, 0], dy.shape), dy), [0, 1, 2]));
    }
  }
  return tf.reshape(tf.stack(sums), filterShape);
}

/** The convolution of dy with the filter turned by half a turn. */
const depthwiseInputGradient = (dy: tf.Tensor4D, filter: tf.Tensor4D): tf.Tensor4D =>
  tf.depthwiseConv2d(dy, tf.reverse(filter, [0, 1]), 1, "same");

/** Registers kernels that the backend lacks; a later version of it may have its own. */
function registerGradients(): void {
  const kernels: Record<string, (inputs: tf.NamedTensorInfoMap, attributes: Attributes) => tf.Tensor4D> = {
    [tf.Conv2DBackpropFilter]: (inputs, attributes) =>
      filterGradient(tensor4D(inputs, "x"), tensor4D(inputs, "dy"), attributes),
    [tf.DepthwiseConv2dNativeBackpropFilter]: (inputs, attributes) =>
      depthwiseFilterGradient(tensor4D(inputs, "x"), tensor4D(inputs, "dy"), attributes),
    [tf.DepthwiseConv2dNativeBackpropInput]: (inputs) =>
      depthwiseInputGradient(tensor4D(inputs, "dy"), tensor4D(inputs, "filter")),
  };
  for (const [kernelName, compute] of Object.entries(kernels)) {
    if (tf.getKernel(kernelName, "wasm")) continue;
    tf.registerKernel({
      kernelName,
      backendName: "wasm",
      kernelFunc: ({ inputs, attrs }) => tf.tidy(() => compute(inputs, attrs)),
    });
  }
}

/** Makes the WASM backend the one that computes. */
export async function openEngine(): Promise<void> {
  registerGradients();
  if (!(await tf.setBackend("wasm")))
    throw new Error("Training needs the WASM backend of TensorFlow.js, which did not start");
}
