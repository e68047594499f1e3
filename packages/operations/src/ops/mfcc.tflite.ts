/**
 * Mfcc: mel-frequency cepstral coefficients of spectra; a custom operator that TensorFlow Lite registers itself.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { float32, int32, read, tensor } from "../params.ts";
import { elementCount } from "../tensor.ts";

/** The least sum of a band; its logarithm stands for silence. */
const FLOOR = 1e-12;

export const mfcc = defineOperation({
  name: "Mfcc",
  code: 2101,
  summary:
    "The cosine transform of the logarithms of the sums of magnitudes in triangular bands, which lie evenly on the mel scale.",
  params: [
    // Squared magnitudes: channels by windows by frequencies, as AudioSpectrogram returns them.
    tensor("spectrogram", "TENSOR_FLOAT32"),
    // Samples in a second.
    read(tensor("rate", "TENSOR_INT32")),
    // In hertz; TensorFlow Lite takes the integer part.
    float32("upper_frequency_limit"),
    float32("lower_frequency_limit"),
    int32("filterbank_channel_count"),
    int32("dct_coefficient_count"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { spectrogram: 3 },
  work: "functionElement",
  infer(args) {
    const { spectrogram, rate, filterbank_channel_count: bands, dct_coefficient_count: coefficients } = args;
    const [upper, lower] = [args.upper_frequency_limit, args.lower_frequency_limit].map(Math.trunc);
    const [channels, windows, bins] = spectrogram.dimensions;
    const rates = elementCount(rate.dimensions);
    ensure(rates === 1, () => `rate: expected 1 element, got ${rates}`);
    ensure(rate.data[0] >= 1, () => `rate: expected at least 1, got ${rate.data[0]}`);
    ensure(bins >= 2, () => `expected at least 2 frequencies, got ${bins}`);
    ensure(bands >= 1, () => `filterbank_channel_count: expected at least 1, got ${bands}`);
    ensure(
      coefficients >= 1 && coefficients <= bands,
      () => `dct_coefficient_count is ${coefficients} where 1 to filterbank_channel_count, ${bands}, are possible`,
    );
    ensure(lower >= 0, () => `lower_frequency_limit: expected at least 0, got ${lower}`);
    ensure(upper > lower, () => `upper_frequency_limit is ${upper}, not above lower_frequency_limit, ${lower}`);
    return { output: { dimensions: [channels, windows, coefficients] } };
  },
  reference(args, { output }) {
    const { spectrogram, rate, filterbank_channel_count: bands } = args;
    const [, , bins] = spectrogram.dimensions;
    const [channels, windows, coefficients] = output.dimensions;
    const limits = { upper: Math.trunc(args.upper_frequency_limit), lower: Math.trunc(args.lower_frequency_limit) };
    const weights = triangles(bins, rate.data[0], bands, limits);
    // TensorFlow Lite returns zeros if the upper limit is beyond the spectrum.
    if (weights === undefined) {
      output.data.fill(0);
      return undefined;
    }
    const sums = new Float64Array(bands);
    const sumBands = (row: number) => {
      sums.fill(0);
      for (const { bin, band, weight } of weights) {
        const magnitude = Math.sqrt(spectrogram.data[row * bins + bin]);
        if (band >= 0) sums[band] += magnitude * weight;
        if (band + 1 < bands) sums[band + 1] += magnitude * (1 - weight);
      }
    };
    // A unit is a coefficient of a window.
    const compute = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const k = unit % coefficients;
        if (k === 0 || unit === first) sumBands((unit - k) / coefficients);
        let sum = 0;
        for (let band = 0; band < bands; band++) {
          sum += Math.cos((Math.PI / bands) * k * (band + 0.5)) * Math.log(Math.max(sums[band], FLOOR));
        }
        output.data[unit] = Math.sqrt(2 / bands) * sum;
      }
    };
    return { units: channels * windows * coefficients, cost: 32 * bands + weights.length, compute };
  },
});

/** A frequency's part in the falling side of a band (-1: that before the first); the rest of 1 is in the rising side of the next one. */
interface Part {
  readonly bin: number;
  readonly band: number;
  readonly weight: number;
}

/** The parts of all frequencies within the limits; undefined if the upper one is beyond the spectrum. */
function triangles(
  bins: number,
  rate: number,
  bands: number,
  { upper, lower }: { readonly upper: number; readonly lower: number },
): readonly Part[] | undefined {
  const step = (0.5 * rate) / (bins - 1);
  // The mean (bin 0) is never part of it.
  const [first, last] = [Math.floor(1.5 + lower / step), Math.floor(upper / step)];
  if (last >= bins) return undefined;
  const low = melOf(lower);
  const spacing = (melOf(upper) - low) / (bands + 1);
  const centre = (band: number) => low + spacing * (band + 1);
  const parts: Part[] = [];
  let band = -1;
  for (let bin = first; bin <= last; bin++) {
    const mel = melOf(bin * step);
    while (band + 1 < bands && centre(band + 1) < mel) band++;
    parts.push({ bin, band, weight: (centre(band + 1) - mel) / (centre(band + 1) - centre(band)) });
  }
  return parts;
}

function melOf(frequency: number): number {
  return 1127 * Math.log1p(frequency / 700);
}
