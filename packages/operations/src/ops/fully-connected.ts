/**
 * FULLY_CONNECTED: every output sees every input. Facts: HAL 1.3 types.hal, FULLY_CONNECTED.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { formatShape } from "../shape.ts";
import { elementCount, type Tensor } from "../tensor.ts";
import { filterWork } from "../work.ts";
import { accumulatorStore, biasOf, needsFreeOutputScale, type Store } from "./_accumulator.ts";
import { blockOf, multiply, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { ensureBias } from "./_convolution-params.ts";
import { widen, widenOnce } from "./_widen.ts";

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
  *reference({ input, weights, bias, activation }, { output }, context) {
    const store = accumulatorStore(input, weights, bias, output, activation);
    const { widened } = context;
    const all = widened?.accepts(weights.data) ? yield* widenOnce(weights, context) : undefined;
    yield* connect(input, weights, all, biasOf(bias), store);
  },
});

/**
 * output[b, u] = bias[u] + Σ input[b, i] · weights[u, i]
 *
 * `all`: the widened weights, if they are kept from run to run. Otherwise they are widened some units at a time: they are the large
 * operand, and in most models each is used once.
 */
function* connect(
  input: Tensor,
  weights: Tensor,
  all: Float64Array | undefined,
  bias: Float64Array,
  store: Store,
): Generator<void, void> {
  const [units, size] = weights.dimensions;
  const rows = yield* widen(input);
  const sums = new Float64Array(units);
  const block = blockOf(size);
  let work = 0;
  for (let first = 0; first < units; first += block) {
    const end = Math.min(first + block, units);
    const data = weights.data.subarray(first * size, end * size);
    const kept = all?.subarray(first * size, end * size);
    // No ?? here: the CommonJS build would put the yield into a function of its own.
    const part = kept === undefined ? yield* widen({ data, zeroPoint: weights.zeroPoint }) : kept;
    for (let row = 0; row * size < rows.length; row++) {
      const inputs = rows.subarray(row * size, (row + 1) * size);
      multiply(inputs, part, bias.subarray(first), 0, end - first, sums.subarray(first));
      store(sums, first, end, row * units, 1);
      work += (end - first) * (size + 1);
      if (work > WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
  }
}
