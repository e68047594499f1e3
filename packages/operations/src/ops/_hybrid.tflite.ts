/**
 * Hybrid layers: float inputs and results, weights of 8 bits. The inputs are quantised at each execution, every row by its own least and
 * greatest value, so that the products are sums of integers.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import type { Product } from "./_matrix.ts";

/** Rows that are quantised each by itself: integers less the zero point, and the scale of each row. */
export interface QuantisedRows {
  readonly data: Float64Array;
  readonly scales: Float64Array;
  /** Fill both, after the values are there. */
  readonly phases: readonly Phase[];
}

/** Scale, its inverse and zero point of a row. */
interface RowQuantisation {
  readonly scale: number;
  readonly inverse: number;
  readonly zeroPoint: number;
}

/** Quantises rows of `size` elements. Asymmetric: the range of a row, with 0, takes all 256 steps; otherwise 0 is in its middle. */
export function quantiseRows(
  values: ArrayLike<number>,
  rows: number,
  size: number,
  asymmetric: boolean,
): QuantisedRows {
  const data = new Float64Array(rows * size);
  const scales = new Float64Array(rows);
  const compute = (first: number, end: number) => {
    for (let row = first; row < end; row++) {
      scales[row] = quantiseRow(values, row * size, data.subarray(row * size, (row + 1) * size), asymmetric);
    }
  };
  return { data, scales, phases: [{ units: rows, cost: 8 * (size + 1), compute }] };
}

/** Writes the elements of a row that begins at `offset`, less the zero point, and returns their scale. */
function quantiseRow(values: ArrayLike<number>, offset: number, result: Float64Array, asymmetric: boolean): number {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < result.length; index++) {
    const value = values[offset + index];
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  const { scale, inverse, zeroPoint } = asymmetric ? asymmetricRow(least, greatest) : symmetricRow(least, greatest);
  const [bottom, top] = asymmetric ? [-128, 127] : [-127, 127];
  for (let index = 0; index < result.length; index++) {
    // In float32, as in .tflite, so that both round the same way.
    const step = roundHalfAway(Math.fround(zeroPoint + Math.fround(values[offset + index] * inverse)));
    result[index] = clamp(step, bottom, top) - zeroPoint;
  }
  return scale;
}

function symmetricRow(least: number, greatest: number): RowQuantisation {
  const range = Math.max(Math.abs(least), Math.abs(greatest));
  if (!(range > 0)) return { scale: 1, inverse: 1, zeroPoint: 0 };
  return { scale: Math.fround(range / 127), inverse: Math.fround(127 / range), zeroPoint: 0 };
}

function asymmetricRow(least: number, greatest: number): RowQuantisation {
  const bottom = Math.min(0, least);
  const top = Math.max(0, greatest);
  if (!(bottom < top)) return { scale: 1, inverse: 1, zeroPoint: 0 };
  const scale = (top - bottom) / 255;
  // Of the two ends the one nearer to a whole step determines the zero point.
  const fromBottom = -128 - bottom / scale;
  const fromTop = 127 - top / scale;
  const isBottomNearer = 128 - bottom / scale < 127 + top / scale;
  const zeroPoint = clamp(roundHalfAway(isBottomNearer ? fromBottom : fromTop), -128, 127);
  return { scale: Math.fround(scale), inverse: Math.fround(1 / Math.fround(scale)), zeroPoint };
}

/** Returns whether operands make a layer hybrid. */
export function isHybrid(input: TensorInfo, weights: TensorInfo): boolean {
  return input.type === "TENSOR_FLOAT32" && weights.type !== "TENSOR_FLOAT32";
}

/** The weights of a hybrid layer. They are symmetric: their zero point does not count, and UINT8 ones are signed bytes all the same. */
export function hybridWeights(weights: Tensor): Tensor {
  const { data } = weights;
  if (!(data instanceof Uint8Array)) return { ...weights, zeroPoint: 0 };
  return { ...weights, data: new Int8Array(data.buffer, data.byteOffset, data.length), zeroPoint: 0 };
}

/** The scale of each row of a matrix or of each filter. */
export function channelScales({ scale, channelQuant }: TensorInfo, channels: number): readonly number[] {
  return channelQuant?.scales ?? new Array<number>(channels).fill(scale);
}

/** Returns whether a filter has a scale for each channel and they differ. */
export function hasDifferentScales({ channelQuant }: TensorInfo): boolean {
  return channelQuant?.scales.some((scale) => scale !== channelQuant.scales[0]) ?? false;
}

/** The weights as real numbers; those that have no scale are. */
export function realWeights(weights: Tensor): Tensor {
  if (weights.type === "TENSOR_FLOAT32") return weights;
  const { data, scale } = hybridWeights(weights);
  return { ...weights, type: "TENSOR_FLOAT32", data: Float32Array.from(data, (element) => element * scale), scale: 0 };
}

/** The product of a hybrid recurrent cell: the vector is quantised, then multiplied in integers. */
export function hybridProduct(asymmetric: boolean): Product {
  return (result, weights, vector, offset) => {
    const [units, size] = weights.dimensions;
    const { data } = hybridWeights(weights);
    const scales = channelScales(weights, units);
    const quantised = new Float64Array(size);
    const scale = quantiseRow(vector, offset, quantised, asymmetric);
    let at = 0;
    for (let unit = 0; unit < units; unit++) {
      let sum = 0;
      for (let index = 0; index < size; index++) sum += data[at++] * quantised[index];
      result[unit] += sum * scale * scales[unit];
    }
  };
}
