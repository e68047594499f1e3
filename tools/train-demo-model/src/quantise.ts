/**
 * The arithmetic of TENSOR_QUANT8_ASYMM: real value = scale * (byte - zeroPoint). Scales are float32, as they are in
 * a .tflite file.
 */

export interface Range {
  low: number;
  high: number;
}

export interface Quantisation {
  scale: number;
  zeroPoint: number;
}

/** A range so narrow that its scale would be useless becomes this wide. */
const NARROWEST = 1e-6;

/**
 * The quantisation whose 256 steps span the range. The range is widened to hold 0, which every quantisation must
 * represent exactly.
 */
export function quantisationOf({ low, high }: Range): Quantisation {
  if (!(Number.isFinite(low) && Number.isFinite(high) && low <= high)) {
    throw new RangeError(`Quantisation of the range ${low} … ${high}: the ends must be finite and in order`);
  }
  const bottom = Math.min(0, low);
  const width = Math.max(NARROWEST, Math.max(0, high) - bottom);
  const scale = Math.fround(width / 255);
  return { scale, zeroPoint: Math.min(255, Math.max(0, Math.round(-bottom / scale))) };
}

/** The nearest byte; values outside the range saturate. */
export const quantiseValue = (value: number, { scale, zeroPoint }: Quantisation): number =>
  Math.min(255, Math.max(0, Math.round(value / scale) + zeroPoint));

export const dequantiseValue = (byte: number, { scale, zeroPoint }: Quantisation): number => scale * (byte - zeroPoint);

export const quantiseValues = (values: Float32Array, quantisation: Quantisation): Uint8Array =>
  Uint8Array.from(values, (value) => quantiseValue(value, quantisation));

/** A bias is added to sums of products of input and weight, so it has their scale and zero point 0. */
export function quantiseBias(
  bias: Float32Array,
  input: Quantisation,
  weights: Quantisation,
): { scale: number; values: Int32Array } {
  const scale = Math.fround(input.scale * weights.scale);
  const values = Int32Array.from(bias, (value) =>
    Math.min(2 ** 31 - 1, Math.max(-(2 ** 31), Math.round(value / scale))),
  );
  return { scale, values };
}

export function rangeOf(values: Float32Array): Range {
  let [low, high] = [0, 0];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

/** Sum of squared differences that quantising the values makes. */
export function quantisationError(values: Float32Array, quantisation: Quantisation): number {
  let sum = 0;
  for (const value of values) {
    const difference = value - dequantiseValue(quantiseValue(value, quantisation), quantisation);
    sum += difference * difference;
  }
  return sum;
}

/** Ranges tried, as parts of the full one. */
const PARTS = Array.from({ length: 26 }, (_, index) => 1 - index * 0.02);

/**
 * The quantisation that represents the values with the least squared error. A few extreme values are worth cutting
 * off when all the others gain a finer step.
 */
export function bestQuantisation(values: Float32Array): Quantisation {
  const { low, high } = rangeOf(values);
  const candidates = PARTS.map((part) => quantisationOf({ low: low * part, high: high * part }));
  const errors = candidates.map((candidate) => quantisationError(values, candidate));
  return candidates[errors.indexOf(Math.min(...errors))];
}
