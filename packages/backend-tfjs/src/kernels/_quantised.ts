/**
 * Quantised tensors in tfjs: float32 tensors of whole numbers, since tfjs has no 8-bit and 16-bit types. Operations compute on
 * the whole numbers where the HAL does and float32 has them exactly, on tables of one element, or else on the real numbers that they represent:
 * then results differ from the HAL's fixed-point arithmetic by at most one unit.
 */
import { type AnyOperandType, activationRange, integerRange, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";

const quantisedTypes: readonly AnyOperandType[] = [
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT8_SYMM",
  "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_QUANT16_ASYMM",
];

/** Returns whether elements are integers that represent real numbers. */
export function isQuantised(type: AnyOperandType): boolean {
  return quantisedTypes.includes(type);
}

/** The whole numbers of a tensor less its zero point. */
export function centre(tensor: tf.Tensor, { zeroPoint }: TensorInfo): tf.Tensor {
  return zeroPoint === 0 ? tensor : tf.sub(tensor, zeroPoint);
}

/** The real numbers of a tensor: (q − zeroPoint) · scale. A tensor that is not quantised is returned as it is. */
export function dequantise(tensor: tf.Tensor, info: TensorInfo): tf.Tensor {
  const { type, scale, channelQuant, dimensions } = info;
  if (!isQuantised(type)) return tensor;
  if (channelQuant === undefined) return tf.mul(centre(tensor, info), scale);
  const shape = dimensions.map((extent, axis) => (axis === channelQuant.channelDim ? extent : 1));
  return tf.mul(tensor, tf.tensor([...channelQuant.scales], shape));
}

/** The quantised form of real numbers: the nearest whole number in the range of the type. Ties round away from 0. */
export function requantise(tensor: tf.Tensor, { type, scale, zeroPoint }: TensorInfo): tf.Tensor {
  if (!isQuantised(type)) return tensor;
  const [least, greatest] = integerRange(type);
  return tf.clipByValue(tf.add(roundAway(tf.div(tensor, scale)), zeroPoint), least, greatest);
}

/** Rounds to the nearest integers. Ties, and numbers less than `slack` below a tie, round away from 0. */
export function roundAway(tensor: tf.Tensor, slack = 0): tf.Tensor {
  return tf.mul(tf.sign(tensor), tf.floor(tf.add(tf.abs(tensor), 0.5 + slack)));
}

/** Applies a fused activation. */
export function activate(tensor: tf.Tensor, activation: number): tf.Tensor {
  const [least, greatest] = activationRange(activation);
  if (least === 0) return greatest === 6 ? tf.relu6(tensor) : tf.relu(tensor);
  return least === -1 ? tf.clipByValue(tensor, least, greatest) : tensor;
}

/** The part of an activation that tfjs fuses into convolutions and matrix products; `activate` does the rest. */
export function fusable(activation: number): "linear" | "relu" | "relu6" {
  const [least, greatest] = activationRange(activation);
  if (least !== 0) return "linear";
  return greatest === 6 ? "relu6" : "relu";
}

/** Applies the part of an activation that `fusable` leaves out. */
export function activateUnfused(tensor: tf.Tensor, activation: number): tf.Tensor {
  return fusable(activation) === "linear" ? activate(tensor, activation) : tensor;
}
