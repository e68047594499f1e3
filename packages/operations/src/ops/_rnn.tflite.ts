/**
 * The common parts of the basic recurrent operators: the types of a cell, its product and its activation.
 */
import { activationFunction } from "../activation.ts";
import type { TensorInfo } from "../tensor.ts";
import { hybridProduct, isHybrid } from "./_hybrid.tflite.ts";
import { type Product, plainProduct } from "./_matrix.ts";

/** Types of activations, states and biases, and of weights. Float cells are here for their activation TANH, which the HAL lacks. */
export const rnnTypes = [
  ["TENSOR_FLOAT32", "TENSOR_FLOAT32"],
  ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"],
] as const;

const TANH = 4;

/** The function of an activation's code in the schema. */
export function rnnActivation(code: number): (sum: number) => number {
  return code === TANH ? Math.tanh : activationFunction(code);
}

/** The product of a cell with these weights. */
export function rnnProduct(input: TensorInfo, weights: TensorInfo, asymmetric: boolean): Product {
  return isHybrid(input, weights) ? hybridProduct(asymmetric) : plainProduct;
}
