/**
 * FULLY_CONNECTED: every output sees every input. Facts: HAL 1.3 types.hal, FULLY_CONNECTED.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { formatShape } from "../shape.ts";
import { elementCount } from "../tensor.ts";
import { filterWork } from "../work.ts";
import { accumulatorStore, biasOf, needsFreeOutputScale } from "./_accumulator.ts";
import { connect } from "./_connect.ts";
import { ensureBias } from "./_convolution-params.ts";
import { widen } from "./_widen.ts";

export const fullyConnected = defineOperation({
  name: "FULLY_CONNECTED",
  code: OperationType.FULLY_CONNECTED,
  summary: "The inputs, seen as rows, times the transposed weights, plus a bias.",
  params: [tensor("input"), tensor("weights"), tensor("bias"), int32("activation")],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.0", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  ranks: { input: [2, 4], weights: 2, bias: 1 },
  work: ({ weights }, { output }) => filterWork(weights, output),
  since: ({ input, weights }, { output }) => (needsFreeOutputScale(input, weights, output) ? "1.2" : undefined),
  infer({ input, weights, bias }) {
    const [units, size] = weights.dimensions;
    ensure(size >= 1, () => "the weights have no inputs");
    ensureBias(bias, units);
    const batches = elementCount(input.dimensions) / size;
    ensure(
      Number.isInteger(batches),
      () => `the input has shape ${formatShape(input.dimensions)}, which is not made of rows of ${size}`,
    );
    return { output: { dimensions: [batches, units] } };
  },
  reference({ input, weights, bias, activation }, { output }, context) {
    const store = accumulatorStore(input, weights, bias, output, activation);
    const { data, phases } = widen(input);
    return [...phases, ...connect(data, weights, biasOf(bias), store, context)];
  },
});
