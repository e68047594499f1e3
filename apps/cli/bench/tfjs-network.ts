/**
 * A convolutional .tflite network written directly in tfjs with fused operations: the peer that benchmarks compare with.
 */
import { elementAt } from "@nnhal/operations";
import type { TfliteModel, TfliteOperator, TfliteTensor } from "@nnhal/tflite";
import * as tf from "@tensorflow/tfjs-core";

/** Runs the network on one float32 input. */
export type TfjsNetwork = (input: Float32Array) => Float32Array;

/** Builds the network; weights become tfjs tensors once. Throws for an operator that such networks do not have. */
export function tfjsNetwork({ subgraphs }: TfliteModel): TfjsNetwork {
  const { tensors, operators, inputs, outputs } = elementAt(subgraphs, 0);
  const [input, output] = [elementAt(inputs, 0), elementAt(outputs, 0)];
  const steps = operators.map((operator) => ({ operator, run: stepOf(operator, tensors) }));
  return (data) =>
    tf.tidy(() => {
      const values = new Map<number, tf.Tensor>([[input, tf.tensor(data, [...elementAt(tensors, input).shape])]]);
      for (const { operator, run } of steps) {
        const value = values.get(elementAt(operator.inputs, 0));
        if (value === undefined) throw new Error(`${operator.name} reads a tensor that nothing wrote`);
        values.set(elementAt(operator.outputs, 0), run(value));
      }
      return Float32Array.from(values.get(output)?.dataSync() ?? []);
    });
}

function stepOf(operator: TfliteOperator, tensors: readonly TfliteTensor[]): (input: tf.Tensor) => tf.Tensor {
  const { name, options, inputs, outputs } = operator;
  const tensorAt = (list: readonly number[], place: number) => elementAt(tensors, elementAt(list, place));
  const shape = [...tensorAt(outputs, 0).shape];
  const pad = options.padding === "SAME" ? "same" : "valid";
  const strides: [number, number] = [Number(options.strideH), Number(options.strideW)];
  switch (name) {
    case "CONV_2D": {
      const filter = tf.keep(tf.transpose(constant(tensorAt(inputs, 1)), [1, 2, 3, 0]) as tf.Tensor4D);
      const bias = constant(tensorAt(inputs, 2));
      const activation = activationOf(operator);
      return (x) => tf.fused.conv2d({ x: x as tf.Tensor4D, filter, bias, strides, pad, activation });
    }
    case "DEPTHWISE_CONV_2D": {
      const weights = tensorAt(inputs, 1);
      const filter = tf.keep(tf.expandDims(tf.squeeze(constant(weights), [0]), 3) as tf.Tensor4D);
      const bias = constant(tensorAt(inputs, 2));
      const activation = activationOf(operator);
      return (x) => tf.fused.depthwiseConv2d({ x: x as tf.Tensor4D, filter, bias, strides, pad, activation });
    }
    case "AVERAGE_POOL_2D": {
      const window: [number, number] = [Number(options.filterHeight), Number(options.filterWidth)];
      return (x) => tf.avgPool(x as tf.Tensor4D, window, strides, pad);
    }
    case "RESHAPE":
    case "SQUEEZE":
      return (x) => tf.reshape(x, shape);
    case "SOFTMAX":
      return (x) => tf.softmax(x);
    default:
      throw new Error(`the comparison in tfjs does not know ${name}`);
  }
}

function constant({ data, shape }: TfliteTensor): tf.Tensor {
  const values = new Float32Array(new Uint8Array(data ?? []).buffer);
  return tf.keep(tf.tensor(values, [...shape]));
}

function activationOf({ options }: TfliteOperator): "linear" | "relu" | "relu6" {
  switch (options.fusedActivationFunction) {
    case "RELU6":
      return "relu6";
    case "RELU":
      return "relu";
    default:
      return "linear";
  }
}
