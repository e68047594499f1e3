/**
 * Elements as real numbers and back, for kernels that compute with real numbers for any type: quantised elements stand for
 * (element - zeroPoint) * scale, all others for themselves.
 */

import { FusedActivationFunc } from "@nnhal/types";
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { type AnyTensorData, isSameType } from "../operand-type.ts";
import { integerRange, type OutputTensor, type Tensor, type TensorInfo } from "../tensor.ts";
import { type Quant16Params, tfliteTypes } from "../tflite-types.ts";
import { longsIn, numbersIn } from "./_integers.tflite.ts";
import { quantisedTypes } from "./_types.tflite.ts";
import { isLong } from "./_wider.tflite.ts";

/** A tensor of the HAL's types or of the extension's. */
export type AnyTensor = Tensor<AnyTensorData>;
/** An output of the HAL's types or of the extension's. */
export type AnyOutput = OutputTensor<AnyTensorData>;

/** The real numbers of a tensor. 64-bit integers beyond 2^53 are rounded. */
export function realsOf({ type, data, scale, zeroPoint }: Tensor<AnyTensorData>): Float64Array {
  if (isLong(type)) return Float64Array.from(longsIn(data), Number);
  const reals = Float64Array.from(numbersIn(data));
  if (!isQuantised(type)) return reals;
  for (let index = 0; index < reals.length; index++) reals[index] = (reals[index] - zeroPoint) * scale;
  return reals;
}

/** Returns whether elements have a scale and a zero point. */
export function isQuantised(type: Tensor["type"]): boolean {
  return quantisedTypes.some((each) => each === type);
}

/**
 * Writes real numbers as elements of a type: quantised ones are divided by the scale, rounded (halves away from 0) and clamped;
 * integers are truncated toward 0 and wrap, as .tflite casts them.
 */
export function storeReals(reals: ArrayLike<number>, output: OutputTensor<AnyTensorData>): void {
  const { type, data, scale, zeroPoint } = output;
  if (isLong(type)) {
    const longs = longsIn(data);
    for (let index = 0; index < longs.length; index++) longs[index] = BigInt(Math.trunc(finite(reals[index])));
    return;
  }
  const numbers = numbersIn(data);
  if (!isQuantised(type)) {
    for (let index = 0; index < numbers.length; index++) numbers[index] = reals[index];
    return;
  }
  const [least, greatest] = integerRange(type);
  for (let index = 0; index < numbers.length; index++) {
    const element = roundHalfAway(reals[index] / scale) + zeroPoint;
    numbers[index] = element < least ? least : element > greatest ? greatest : element;
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** A tensor with the quantisation of its extension data, if its type is one with a zero point that the HAL lacks. */
export function withQuantisation<T extends TensorInfo>(tensor: T): T {
  if (!isSameType(tensor.type, tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED)) return tensor;
  // The codec of the type returns these.
  const { scale, zeroPoint } = tensor.params as Quant16Params;
  return { ...tensor, type: "TENSOR_QUANT16_SYMM", scale, zeroPoint };
}

/** Returns whether elements are their own real values: no quantised type, or one whose tensor has no quantisation. */
export function isPlain({ type, scale, zeroPoint }: TensorInfo): boolean {
  return !isQuantised(type) || (scale === 1 && zeroPoint === 0);
}

/** The real number of each element, by its index. Not for 64-bit integers. */
export function readerOf(tensor: AnyTensor): (index: number) => number {
  const { zeroPoint, scale } = tensor;
  const data = numbersIn(tensor.data);
  return isPlain(tensor) ? (index) => data[index] : (index) => (data[index] - zeroPoint) * scale;
}

/**
 * Stores a real number as an element: a quantised one is rounded (halves away from 0) and clamped to the type; all others are stored as
 * they are. The fused activation applies before.
 */
export function writerOf(
  output: AnyOutput,
  activation: number = FusedActivationFunc.NONE,
): (index: number, value: number) => void {
  const { type, scale, zeroPoint } = output;
  const data = numbersIn(output.data);
  const isReal = !isQuantised(type);
  const [least, greatest] = isReal ? activationRange(activation) : quantisedActivationRange(activation, output);
  if (!isReal) {
    return (index, value) => {
      data[index] = clamp(roundHalfAway(value / scale) + zeroPoint, least, greatest);
    };
  }
  return (index, value) => {
    data[index] = clamp(value, least, greatest);
  };
}
