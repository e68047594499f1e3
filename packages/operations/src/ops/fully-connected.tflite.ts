/**
 * FULLY_CONNECTED for the types of .tflite: INT16 activations, weights with a scale for each unit, hybrid layers, no bias, inputs of any
 * rank. The operands are those of the HAL's operation, then two options of .tflite that may be left out.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, omittable, omittableFrom, optional, tensor, wide } from "../params.ts";
import type { Filled } from "../phases.ts";
import { formatShape } from "../shape.ts";
import { elementCount, type Tensor, type TensorInfo } from "../tensor.ts";
import { filterWork } from "../work.ts";
import { connect } from "./_connect.ts";
import { checkChannelDim } from "./_convolution-params.ts";
import { ensureBiasCount, hybridTypes, layerOf, layerTypes } from "./_layers.tflite.ts";

export const fullyConnected = defineOperation({
  name: "FULLY_CONNECTED",
  code: OperationType.FULLY_CONNECTED,
  summary: "The inputs, seen as rows, times the transposed weights, plus a bias.",
  params: [
    tensor("input"),
    tensor("weights"),
    omittable(wide(tensor("bias"))),
    int32("activation"),
    optional("1.2", bool("keepNumDims"), false),
    optional("1.2", bool("asymmetricQuantizeInputs"), false),
    // The weights of a unit in as many blocks of one size, each with its own scale in place of the weights' one.
    omittableFrom("1.2", tensor("blockScales", "TENSOR_FLOAT32")),
  ],
  outputs: [tensor("output")],
  types: [
    ...layerTypes,
    ...hybridTypes,
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM", "TENSOR_INT32", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_INT32", "TENSOR_QUANT16_SYMM"],
  ],
  ranks: { input: [1, Number.POSITIVE_INFINITY], weights: 2 },
  work: ({ weights }, { output }) => filterWork(weights, output),
  check: ({ weights }) => checkChannelDim(weights, 0),
  infer({ input, weights, bias, keepNumDims, blockScales }) {
    const [units, size] = weights.dimensions;
    const { dimensions } = input;
    if (blockScales !== undefined) ensureBlocks(input, weights, blockScales);
    ensure(size >= 1, () => "the weights have no inputs");
    ensureBiasCount(bias, units);
    if (keepNumDims) {
      const extent = dimensions[dimensions.length - 1];
      ensure(
        extent === size,
        () => `the input's last extent: expected ${size} to keep the number of dimensions, got ${extent}`,
      );
      return { output: { dimensions: [...dimensions.slice(0, -1), units] } };
    }
    const batches = elementCount(dimensions) / size;
    ensure(
      Number.isInteger(batches),
      () => `the input has shape ${formatShape(dimensions)}, which is not made of rows of ${size}`,
    );
    return { output: { dimensions: [batches, units] } };
  },
  reference({ input, weights, bias, activation, asymmetricQuantizeInputs, blockScales }, { output }, context) {
    const [units, size] = weights.dimensions;
    const hybrid = { rows: input.data.length / size, asymmetric: asymmetricQuantizeInputs };
    const layer = layerOf({ input, filter: weights, bias, activation }, units, output, hybrid);
    const scaled = blockScales && scaledBlocks(layer.filter, blockScales);
    const filter = scaled === undefined ? layer.filter : { ...layer.filter, data: scaled.data };
    return [
      ...layer.phases,
      ...(scaled?.phases ?? []),
      ...connect(layer.input, filter, layer.bias, layer.store, context),
    ];
  },
});

/** Refuses blocks of a layer that is not hybrid, and those that do not divide the rows of the weights. */
function ensureBlocks(input: TensorInfo, weights: TensorInfo, { dimensions }: TensorInfo): void {
  const [units, size] = weights.dimensions;
  ensure(
    input.type === "TENSOR_FLOAT32" && weights.type === "TENSOR_QUANT8_ASYMM_SIGNED" && weights.zeroPoint === 0,
    () => "blocks of weights need float inputs, and signed weights with zero point 0",
  );
  ensure(
    dimensions.length === 2 && dimensions[0] === units && dimensions[1] >= 1 && size % dimensions[1] === 0,
    () =>
      `the scales have shape ${formatShape(dimensions)}, which does not divide ${units} rows of ${size} weights into blocks`,
  );
}

/** The weights times their blocks' scales. */
function scaledBlocks(weights: Tensor, scales: Tensor): Filled<Float32Array> {
  const size = elementCount(weights.dimensions) / scales.data.length;
  const data = new Float32Array(weights.data.length);
  const compute = (first: number, end: number) => {
    for (let block = first; block < end; block++) {
      const scale = scales.data[block];
      for (let index = block * size; index < (block + 1) * size; index++) data[index] = weights.data[index] * scale;
    }
  };
  return { data, phases: [{ units: scales.data.length, cost: 4 * size, compute }] };
}
