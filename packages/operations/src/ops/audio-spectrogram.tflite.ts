/**
 * AudioSpectrogram: how strong each frequency is in overlapping parts of sounds; a custom operator that TensorFlow Lite registers itself.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, tensor } from "../params.ts";
import { createTransform, type Source, type StoreNumber } from "./_fourier.tflite.ts";

export const audioSpectrogram = defineOperation({
  name: "AudioSpectrogram",
  code: 2100,
  summary:
    "Magnitudes of the Fourier transform of each window of each channel: a Hann window, filled up with zeros to a power of 2.",
  // Samples by channels.
  params: [tensor("input", "TENSOR_FLOAT32"), int32("window_size"), int32("stride"), bool("magnitude_squared")],
  // Channels by windows by frequencies.
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 2 },
  work: "functionElement",
  infer({ input, window_size: size, stride }) {
    const [samples, channels] = input.dimensions;
    ensure(size >= 2, () => `window_size: expected at least 2, got ${size}`);
    ensure(stride >= 1, () => `stride: expected at least 1, got ${stride}`);
    const windows = samples < size ? 0 : 1 + Math.floor((samples - size) / stride);
    return { output: { dimensions: [channels, windows, 1 + transformLength(size) / 2] } };
  },
  /** output[c, w, k] = |Σ hann[n] · input[w · stride + n, c] · exp(-2πi · kn / length)|, or its square; hann[n] = ½ - ½ · cos(2πn / size). */
  reference({ input, window_size: size, stride, magnitude_squared: isSquared }, { output }) {
    const [, channels] = input.dimensions;
    const [, windows, bins] = output.dimensions;
    // Then the size may be greater than any memory.
    if (windows === 0) return [];
    const hann = new Float64Array(size);
    const weigh = (first: number, end: number) => {
      for (let at = first; at < end; at++) hann[at] = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size);
    };
    const transform = createTransform(transformLength(size), bins);
    const compute = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const row = Math.floor(unit / transform.steps);
        const channel = Math.floor(row / windows);
        const start = (row % windows) * stride;
        const source: Source = {
          real: (at) => (at < size ? input.data[(start + at) * channels + channel] * hann[at] : 0),
        };
        const store: StoreNumber = (bin, real, imaginary) => {
          const square = Math.fround(real ** 2 + imaginary ** 2);
          output.data[row * bins + bin] = isSquared ? square : Math.sqrt(square);
        };
        transform.compute(unit % transform.steps, source, store);
      }
    };
    return [
      { units: size, cost: 16, compute: weigh },
      ...transform.phases,
      { units: channels * windows * transform.steps, cost: transform.cost, inTurn: true, compute },
    ];
  },
});

/** The least power of 2 that is not less than the size of a window. */
function transformLength(size: number): number {
  return 2 ** Math.ceil(Math.log2(size));
}
