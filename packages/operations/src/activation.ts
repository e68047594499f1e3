/**
 * The fused activation of an operation as bounds of its result.
 */
import { FusedActivationFunc } from "@nnhal/types";
import { OperationError } from "./fail.ts";
import { clamp, roundHalfAway } from "./fixed-point.ts";
import { integerRange, type TensorInfo } from "./tensor.ts";

const { NONE, RELU, RELU1, RELU6 } = FusedActivationFunc;

/** Bounds of a result in real numbers. */
export function activationRange(activation: number): readonly [least: number, greatest: number] {
  switch (activation) {
    case NONE:
      return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    case RELU:
      return [0, Number.POSITIVE_INFINITY];
    case RELU1:
      return [-1, 1];
    case RELU6:
      return [0, 6];
    default:
      throw new OperationError(`activation ${activation} is none of NONE 0, RELU 1, RELU1 2, RELU6 3`);
  }
}

/** The activation of a real number. */
export function activationFunction(activation: number): (value: number) => number {
  const [least, greatest] = activationRange(activation);
  return (value) => clamp(value, least, greatest);
}

/** Bounds of a result in the output's quantised integers: rounded, and within what the type can hold. */
export function quantisedActivationRange(
  activation: number,
  { type, scale, zeroPoint }: TensorInfo,
): readonly [least: number, greatest: number] {
  const [typeLeast, typeGreatest] = integerRange(type);
  const [least, greatest] = activationRange(activation);
  const quantise = (real: number) => clamp(zeroPoint + roundHalfAway(real / scale), typeLeast, typeGreatest);
  return [quantise(least), quantise(greatest)];
}
