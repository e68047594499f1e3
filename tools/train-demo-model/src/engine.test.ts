import "@tensorflow/tfjs-backend-cpu";
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-layers";
import { beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "./engine.ts";

type Convolution = (x: tf.Tensor4D, filter: tf.Tensor4D) => tf.Tensor4D;

/** The gradients of a weighted sum of the convolution's outputs, by input and by filter. */
async function gradients(convolution: Convolution, xShape: number[], filterShape: number[]): Promise<number[][]> {
  const [x, filter] = [
    tf.randomUniform(xShape, -1, 1, "float32", 1),
    tf.randomUniform(filterShape, -1, 1, "float32", 2),
  ];
  const loss = (input: tf.Tensor, kernel: tf.Tensor): tf.Scalar => {
    const output = convolution(
      tf.reshape(input, [xShape[0], xShape[1], xShape[2], xShape[3]]),
      tf.reshape(kernel, [filterShape[0], filterShape[1], filterShape[2], filterShape[3]]),
    );
    return tf.sum(tf.mul(output, tf.randomUniform(output.shape, -1, 1, "float32", 3)));
  };
  const results = tf.grads(loss)([x, filter]);
  return Promise.all(results.map(async (result) => [...(await result.data())]));
}

describe("the gradients added to the WASM backend", () => {
  beforeAll(async () => {
    // Keeps the CPU backend from advertising another one.
    tf.enableProdMode();
    await openEngine();
  });

  it.each([
    ["3x3, stride 2, same, even size", tf.conv2d, 2, "same", [2, 8, 6, 3], [3, 3, 3, 5]],
    ["3x3, stride 2, same, odd size", tf.conv2d, 2, "same", [2, 7, 9, 3], [3, 3, 3, 5]],
    ["3x3, stride 2, valid, with cells to spare", tf.conv2d, 2, "valid", [2, 8, 6, 3], [3, 3, 3, 5]],
    ["3x3, stride 1, same", tf.conv2d, 1, "same", [3, 5, 5, 2], [3, 3, 2, 4]],
    ["2x4, stride 1, same", tf.conv2d, 1, "same", [3, 5, 5, 2], [2, 4, 2, 4]],
    ["1x1", tf.conv2d, 1, "same", [2, 4, 4, 6], [1, 1, 6, 3]],
    ["depthwise 3x3, same", tf.depthwiseConv2d, 1, "same", [2, 6, 5, 4], [3, 3, 4, 1]],
    ["depthwise 5x3, same", tf.depthwiseConv2d, 1, "same", [2, 6, 5, 4], [5, 3, 4, 1]],
  ] as const)("%s: equal the CPU backend's", async (_, convolve, stride, pad, xShape, filterShape) => {
    const convolution: Convolution = (x, filter) => convolve(x, filter, stride, pad);
    const ours = await gradients(convolution, [...xShape], [...filterShape]);
    await tf.setBackend("cpu");
    const theirs = await gradients(convolution, [...xShape], [...filterShape]);
    await tf.setBackend("wasm");
    for (const [index, values] of theirs.entries()) {
      expect(ours[index]).toHaveLength(values.length);
      expect(values.some((value) => Math.abs(value) > 0.1)).toBe(true);
      for (const [at, value] of values.entries()) expect(Math.abs(ours[index][at] - value)).toBeLessThan(1e-5);
    }
  });
});
