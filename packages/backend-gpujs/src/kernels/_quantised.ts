/**
 * Quantised tensors: values of whole numbers q, exact in float32, that represent the real numbers (q − zeroPoint) · scale. Programs
 * dequantise when they read, and quantise their results.
 */
import type { KernelTensor } from "@nnhal/backend";
import {
  type AnyOperandType,
  elementCount,
  integerRange,
  isExtensionType,
  stridesOf,
  type TensorInfo,
} from "@nnhal/operations";
import { operandTypes } from "@nnhal/types";
import type { At, Four, FourAt, Source, Writer } from "./_code.ts";
import { enclose, literal } from "./_index.ts";

const quantisations: readonly string[] = ["asymmetric", "symmetric", "perChannel"];

/**
 * Returns whether elements are integers that represent real numbers. False for TENSOR_INT32, although a bias has a
 * scale.
 */
export function isQuantised(type: AnyOperandType): boolean {
  return !isExtensionType(type) && quantisations.includes(operandTypes[type].quantisation);
}

/** A change of an element, as code. */
type Change = (element: string) => string;

/** The whole number q − zeroPoint of an element; the element itself if the tensor is not quantised. */
export function subtractZeroPoint(element: string, { type, zeroPoint }: TensorInfo): string {
  return isQuantised(type) && zeroPoint !== 0 ? `(${element} - ${literal(zeroPoint)})` : element;
}

const centring =
  (tensor: TensorInfo): Change =>
  (element) =>
    subtractZeroPoint(element, tensor);

function changeFour([a, b, c, d]: Four, change: Change): Four {
  return [change(a), change(b), change(c), change(d)];
}

/** A writer whose elements of a source are changed. */
function changeElements(writer: Writer, changeOf: (source: Source) => Change): Writer {
  return {
    ...writer,
    read(source): At {
      const read = writer.read(source);
      const change = changeOf(source);
      return (index) => change(read(index));
    },
    four(source, columns): FourAt {
      const four = writer.four(source, columns);
      return (row, group) => changeFour(four(row, group), changeOf(source));
    },
    fourHere: (source) => changeFour(writer.fourHere(source), changeOf(source)),
  };
}

/** A writer whose elements of quantised tensors are the whole numbers q − zeroPoint; `of` returns the tensor of a source. */
export function centredWriter(writer: Writer, of: (source: Source) => TensorInfo | undefined): Writer {
  return changeElements(writer, (source) => {
    const tensor = of(source);
    return tensor === undefined ? (element) => element : centring(tensor);
  });
}

/** Why a tensor cannot be read as real numbers. */
export function whyUnreadable({ type, channelQuant, data }: TensorInfo & { readonly data?: unknown }) {
  return channelQuant === undefined || data !== undefined
    ? undefined
    : `${type}: a tensor with a scale for each channel that is not constant is not available`;
}

/** A writer whose sources are real numbers. */
export function realWriter(writer: Writer): Writer {
  const isWhole = (source: Source): source is KernelTensor => "index" in source && isQuantised(source.type);
  const real = changeElements(writer, (source) => {
    if (!isWhole(source)) return (element) => element;
    const centre = centring(source);
    return (element) => writer.single(`${centre(element)} * ${literal(Math.fround(source.scale))}`);
  });
  const constantOf = (source: Source) =>
    isWhole(source) && source.data !== undefined ? realConstant(source, source.data) : undefined;
  return {
    ...real,
    read: (source) => {
      const constant = constantOf(source);
      return constant === undefined ? real.read(source) : writer.read(constant);
    },
    four: (source, columns) => {
      const constant = constantOf(source);
      return constant === undefined ? real.four(source, columns) : writer.four(constant, columns);
    },
    fourHere: (source) => {
      const constant = constantOf(source);
      return constant === undefined ? real.fourHere(source) : writer.fourHere(constant);
    },
  };
}

const realConstants = new WeakMap<TensorInfo, Source>();

/** The real numbers of a constant. */
function realConstant(tensor: TensorInfo, data: ArrayLike<number>): Source {
  const known = realConstants.get(tensor);
  if (known !== undefined) return known;
  const { dimensions, scale, zeroPoint, channelQuant } = tensor;
  const scales = channelQuant?.scales ?? [scale];
  const stride = channelQuant === undefined ? elementCount(dimensions) : stridesOf(dimensions)[channelQuant.channelDim];
  const packed = Float32Array.from(
    data,
    // The scale of the HAL is a float32, and so it is in programs.
    (element, index) => (element - zeroPoint) * Math.fround(scales[Math.floor(index / stride) % scales.length]),
  );
  const source = { packed };
  realConstants.set(tensor, source);
  return source;
}

/** The whole number nearest to `value`, which is in units of the output's scale. Ties round to even. */
export function roundToWhole({ define }: Writer, value: string): string {
  const exact = define(value);
  const up = define(`Math.floor(${exact} + 0.5)`);
  return `(${up} - ${exact} >= 0.5 && ${up} - 2 * Math.floor(${up} / 2) > 0.5 ? ${up} - 1 : ${up})`;
}

/** The whole number nearest to `value`. Ties round away from 0. */
export function roundedAway({ define }: Writer, value: string): string {
  const exact = define(value);
  return `(${exact} < 0 ? Math.ceil(${exact} - 0.5) : Math.floor(${exact} + 0.5))`;
}

/** A whole number within a range. */
export function clampToRange(value: string, [least, greatest]: readonly number[]): string {
  return `Math.min(Math.max(${value}, ${literal(least)}), ${literal(greatest)})`;
}

/** The quantised form of a sum of products in units of the output's scale, within a range. */
export function storeSteps(writer: Writer, steps: string, { zeroPoint }: TensorInfo, range: readonly number[]): string {
  return clampToRange(`${roundToWhole(writer, steps)} + ${literal(zeroPoint)}`, range);
}

/** The stored form of a real number in an output: the number itself if the output is not quantised. */
export function requantiseValue(writer: Writer, value: string, output: TensorInfo): string {
  const { type, scale, zeroPoint } = output;
  if (!isQuantised(type)) return enclose(value);
  return clampToRange(
    `${roundedAway(writer, `${enclose(value)} / ${literal(scale)}`)} + ${literal(zeroPoint)}`,
    integerRange(type),
  );
}
