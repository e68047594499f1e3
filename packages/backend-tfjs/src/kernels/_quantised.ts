/**
 * Quantised tensors in tfjs: float32 tensors of whole numbers, since tfjs has no 8-bit and 16-bit types. Operations compute on
 * the real numbers that they represent; with float32, results differ from the HAL's fixed-point arithmetic by at most one unit.
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

/** Whether elements are whole numbers that represent real numbers. */
export function isQuantised(type: AnyOperandType): boolean {
  return quantisedTypes.includes(type);
}

/** The real numbers of a tensor: (q − zeroPoint) · scale. A tensor that is not quantised is returned as it is. */
export function dequantise(
  tensor: tf.Tensor,
  { type, scale, zeroPoint, channelQuant, dimensions }: TensorInfo,
): tf.Tensor {
  if (!isQuantised(type)) return tensor;
  if (channelQuant === undefined) {
    const centred = zeroPoint === 0 ? tensor : tf.sub(tensor, zeroPoint);
    return tf.mul(centred, scale);
  }
  const shape = dimensions.map((extent, axis) => (axis === channelQuant.channelDim ? extent : 1));
  return tf.mul(tensor, tf.tensor([...channelQuant.scales], shape));
}

/** The quantised form of real numbers: the nearest whole number in the range of the type. Ties round up. */
export function requantise(tensor: tf.Tensor, { type, scale, zeroPoint }: TensorInfo): tf.Tensor {
  if (!isQuantised(type)) return tensor;
  const [least, greatest] = integerRange(type);
  return tf.clipByValue(tf.floor(tf.add(tf.div(tensor, scale), zeroPoint + 0.5)), least, greatest);
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
