/**
 * FULLY_CONNECTED for the types of .tflite: INT16 activations, weights with a scale for each unit, hybrid layers, no bias, inputs of any
 * rank. The operands are those of the HAL's operation, then two options of .tflite that may be left out.
 */
import { elementCount, formatShape } from "@nnhal/operations";
import {
  bool,
  checkChannelDim,
  connect,
  defineOperation,
  ensure,
  filterWork,
  int32,
  omittable,
  optional,
  tensor,
  wide,
} from "@nnhal/operations/authoring";
import { OperationType } from "@nnhal/types";
import { ensureBiasCount, hybridTypes, layerOf, layerTypes } from "../_layers.ts";

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
  infer({ input, weights, bias, keepNumDims }) {
    const [units, size] = weights.dimensions;
    const { dimensions } = input;
    ensure(size >= 1, () => "the weights have no inputs");
    ensureBiasCount(bias, units);
    if (keepNumDims) {
      const extent = dimensions[dimensions.length - 1];
      ensure(
        extent === size,
        () => `the input's last extent is ${extent} where ${size} is needed to keep the number of dimensions`,
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
  *reference({ input, weights, bias, activation, asymmetricQuantizeInputs }, { output }, context) {
    const [units, size] = weights.dimensions;
    const hybrid = { rows: input.data.length / size, asymmetric: asymmetricQuantizeInputs };
    const layer = yield* layerOf({ input, filter: weights, bias, activation }, units, output, hybrid);
    yield* connect(layer.input, layer.filter, layer.bias, layer.store, context);
  },
});
