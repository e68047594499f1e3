/**
 * AudioSpectrogram: how strong each frequency is in overlapping parts of sounds; a custom operator that TensorFlow Lite registers itself.
 */
import { bool, defineOperation, ensure, int32, pacer, tensor } from "@nnhal/operations/authoring";
import { createTransform } from "./_fourier.ts";

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
  *reference({ input, window_size: size, stride, magnitude_squared: isSquared }, { output }) {
    const [, channels] = input.dimensions;
    const [, windows, bins] = output.dimensions;
    // Then the size may be greater than any memory.
    if (windows === 0) return;
    const length = transformLength(size);
    const transform = yield* createTransform(length);
    const weights = Float64Array.from({ length: size }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size));
    const isTime = pacer();
    for (let row = 0; row < channels * windows; row++) {
      const channel = Math.floor(row / windows);
      const first = (row % windows) * stride;
      const numbers = { real: new Float64Array(length), imaginary: new Float64Array(length) };
      for (let at = 0; at < size; at++) {
        numbers.real[at] = input.data[(first + at) * channels + channel] * weights[at];
      }
      yield* transform(numbers);
      for (let bin = 0; bin < bins; bin++) {
        const square = Math.fround(numbers.real[bin] ** 2 + numbers.imaginary[bin] ** 2);
        output.data[row * bins + bin] = isSquared ? square : Math.sqrt(square);
      }
      if (isTime(length * 16)) yield;
    }
  },
});

/** The least power of 2 that is not less than the size of a window. */
function transformLength(size: number): number {
  return 2 ** Math.ceil(Math.log2(size));
}
