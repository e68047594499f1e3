/**
 * The common parts of the float LSTMs' operand lists.
 */
import { omittable, omittableFrom, scalar, tensor } from "../params.ts";

/** Weights and biases of a cell, in the HAL's order. */
export const lstmOperands = [
  omittable(tensor("inputToInputWeights")),
  tensor("inputToForgetWeights"),
  tensor("inputToCellWeights"),
  tensor("inputToOutputWeights"),
  omittable(tensor("recurrentToInputWeights")),
  tensor("recurrentToForgetWeights"),
  tensor("recurrentToCellWeights"),
  tensor("recurrentToOutputWeights"),
  omittable(tensor("cellToInputWeights")),
  omittable(tensor("cellToForgetWeights")),
  omittable(tensor("cellToOutputWeights")),
  omittable(tensor("inputGateBias")),
  tensor("forgetGateBias"),
  tensor("cellBias"),
  tensor("outputGateBias"),
  omittable(tensor("projectionWeights")),
  omittable(tensor("projectionBias")),
] as const;

/** Clips of cell and projection; FLOAT16 for tensors of that type. */
export const lstmClips = [scalar("cellClip"), scalar("projectionClip")] as const;

/** Weights of the layer normalisation, which may be left out. */
export const lstmLayerNorm = [
  omittableFrom("1.2", tensor("inputLayerNormWeights")),
  omittableFrom("1.2", tensor("forgetLayerNormWeights")),
  omittableFrom("1.2", tensor("cellLayerNormWeights")),
  omittableFrom("1.2", tensor("outputLayerNormWeights")),
] as const;
