/**
 * Values of a constant as the page shows them: the first elements, a summary, and a histogram.
 */
import { fromFloat16Bits } from "@nnhal/operations";
import type { TfliteTensor } from "@nnhal/tflite";
import { MOST_LISTED } from "./file-view.ts";

/** A summary of numbers. */
export interface ValueSummary {
  readonly count: number;
  readonly least: number;
  readonly greatest: number;
  readonly mean: number;
  /** Elements that are 0. */
  readonly zeros: number;
  /** Elements that are NaN or infinite. */
  readonly unusual: number;
  /** Counts in intervals of one length between `least` and `greatest`. */
  readonly histogram: readonly number[];
  /** The first elements. */
  readonly first: readonly number[];
}

/** Elements of a constant, or why they are not shown. */
export type TensorValues = { readonly real: ValueSummary; readonly isQuantized: boolean } | { readonly reason: string };

const INTERVALS = 40;

/** Summarises numbers. Those that are not finite are counted only. */
export function summarize(values: ArrayLike<number>): ValueSummary {
  let [least, greatest, sum, zeros, finite] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    if (!Number.isFinite(value)) continue;
    finite++;
    sum += value;
    if (value === 0) zeros++;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  const histogram = new Array<number>(INTERVALS).fill(0);
  const range = greatest - least || 1;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    if (!Number.isFinite(value)) continue;
    const place = Math.min(INTERVALS - 1, Math.floor(((value - least) / range) * INTERVALS));
    histogram[place] = (histogram[place] ?? 0) + 1;
  }
  return {
    count: values.length,
    least: finite === 0 ? Number.NaN : least,
    greatest: finite === 0 ? Number.NaN : greatest,
    mean: finite === 0 ? Number.NaN : sum / finite,
    zeros,
    unusual: values.length - finite,
    histogram,
    first: Array.from({ length: Math.min(MOST_LISTED, values.length) }, (_, index) => values[index] ?? 0),
  };
}

/** The real numbers of a constant: elements times their scales. */
export function valuesOf(tensor: TfliteTensor): TensorValues {
  const { data, external, type, quantization, sparsity, blocks } = tensor;
  if (data === undefined)
    return { reason: external === undefined ? "it is computed in a run" : "it lies in another file" };
  if (sparsity !== undefined) return { reason: "it is stored sparse" };
  const elements = elementsOf(type, data);
  if (elements === undefined) return { reason: `elements of ${type} are not shown as numbers` };
  const isQuantized = quantization !== undefined && blocks === undefined;
  return { real: summarize(isQuantized ? realOf(elements, tensor, quantization) : elements), isQuantized };
}

/** Real values: by `scale` and `zeroPoint`, of the tensor or of each index along a dimension. */
function realOf(
  elements: ArrayLike<number>,
  { shape }: TfliteTensor,
  { scale, zeroPoint, quantizedDimension }: NonNullable<TfliteTensor["quantization"]>,
): Float64Array {
  const inner = shape.slice(quantizedDimension + 1).reduce((product, extent) => product * extent, 1);
  const extent = shape[quantizedDimension] ?? 1;
  const isPerChannel = scale.length > 1;
  return Float64Array.from(elements, (element, index) => {
    const channel = isPerChannel ? Math.floor(index / inner) % extent : 0;
    return (element - Number(zeroPoint[channel] ?? 0)) * (scale[channel] ?? 1);
  });
}

/** Little-endian elements as numbers; undefined for types such as STRING. */
export function elementsOf(type: string, data: Uint8Array): ArrayLike<number> | undefined {
  const read = readers[type];
  if (read !== undefined) {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const [bytes, at] = read;
    return Float64Array.from({ length: Math.floor(data.length / bytes) }, (_, index) => at(view, index * bytes));
  }
  const bits = packedBits[type];
  if (bits === undefined) return undefined;
  const [width, isSigned] = bits;
  const each = 8 / width;
  const half = 1 << (width - 1);
  return Float64Array.from({ length: data.length * each }, (_, index) => {
    const value = ((data[Math.floor(index / each)] ?? 0) >> ((index % each) * width)) & ((1 << width) - 1);
    return isSigned && value >= half ? value - 2 * half : value;
  });
}

/** Bits of elements of which several share a byte, and whether they have a sign. */
const packedBits: Readonly<Record<string, readonly [number, boolean]>> = {
  INT4: [4, true],
  UINT4: [4, false],
  INT2: [2, true],
};

const readers: Readonly<Record<string, readonly [number, (view: DataView, at: number) => number]>> = {
  FLOAT64: [8, (view, at) => view.getFloat64(at, true)],
  FLOAT32: [4, (view, at) => view.getFloat32(at, true)],
  FLOAT16: [2, (view, at) => fromFloat16Bits(view.getUint16(at, true))],
  BFLOAT16: [2, (view, at) => brainOf(view.getUint16(at, true))],
  INT64: [8, (view, at) => Number(view.getBigInt64(at, true))],
  UINT64: [8, (view, at) => Number(view.getBigUint64(at, true))],
  INT32: [4, (view, at) => view.getInt32(at, true)],
  UINT32: [4, (view, at) => view.getUint32(at, true)],
  INT16: [2, (view, at) => view.getInt16(at, true)],
  UINT16: [2, (view, at) => view.getUint16(at, true)],
  INT8: [1, (view, at) => view.getInt8(at)],
  UINT8: [1, (view, at) => view.getUint8(at)],
  BOOL: [1, (view, at) => view.getUint8(at)],
};

/** The number of the bits of a bfloat16: the upper half of a float32. */
function brainOf(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits * 65536);
  return view.getFloat32(0);
}
