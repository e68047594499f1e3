/**
 * Layer normalisation in fixed point, inside integer LSTM cells.
 */
import { clamp, multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import { inverseSquareRoot } from "../fixed-point-functions.ts";
import type { Tensor } from "../tensor.ts";

/**
 * Normalises the sums of a gate in place: mean and variance in units of 2^-10 and 2^-20, the results with 12 fractional bits.
 *
 * @param values 16-bit integers of any scale, at least one.
 * @param weights Of type TENSOR_QUANT16_SYMM, one for each value.
 * @param bias 32-bit integers, which count units of the weights' scale / 1024.
 * @param leastVariance What counts as the variance if that is less than 1. Default: 1.
 */
export function normaliseLayer(
  values: Int16Array | Float64Array,
  weights: Tensor,
  bias: Tensor,
  leastVariance = 1,
): void {
  const count = values.length;
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  const mean = Math.trunc((sum * 1024) / count);
  const variance = Math.trunc((squares * Math.trunc(2 ** 20 / count) - mean * mean) / 2 ** 20);
  const inverseDeviation = inverseSquareRoot(variance < 1 ? leastVariance : variance);
  const { mantissa, shift } = quantiseMultiplier(weights.scale);
  const toGate = { mantissa, shift: shift + 12 };
  for (let unit = 0; unit < count; unit++) {
    const normal = multiplyByQuantisedMultiplier(1024 * values[unit] - mean, inverseDeviation);
    const weighted = normal * weights.data[unit] + bias.data[unit];
    const rounded = clamp(Math.trunc((weighted + (weighted > 0 ? 512 : -512)) / 1024), -(2 ** 31), 2 ** 31 - 1);
    values[unit] = clamp(multiplyByQuantisedMultiplier(rounded, toGate), -32768, 32767);
  }
}
