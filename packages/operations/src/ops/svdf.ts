/**
 * SVDF: a fully connected layer factored into a filter over features and one over time (singular value decomposition
 * filter). The state has one slot less in the document than in the reference implementation; the vectors follow the
 * latter: [batches, memory · filters].
 */
import { OperationType } from "@nnhal/types";
import { activationRange } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { int32, omittable, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { recurrentWork } from "../work.ts";
import { addProduct } from "./_matrix.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  tensor("featureWeights"),
  tensor("timeWeights"),
  omittable(tensor("bias")),
  tensor("stateIn"),
  int32("rank"),
  int32("activation"),
] as const;
const outputs = [tensor("stateOut"), tensor("output")] as const;

export const svdf = defineOperation({
  name: "SVDF",
  code: OperationType.SVDF,
  summary: "A filter over features, then one over the last few of its results in time.",
  params,
  outputs,
  types: [
    uniformRow("1.0", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
  ],
  ranks: { input: 2, featureWeights: 2, timeWeights: 2, stateIn: 2 },
  work: recurrentWork,
  infer({ input, featureWeights, timeWeights, bias, stateIn, rank }) {
    const [batches, inputs] = input.dimensions;
    const [filters] = featureWeights.dimensions;
    const memory = timeWeights.dimensions[1];
    ensure(rank >= 1 && filters % rank === 0, () => `${filters} filters are not a multiple of the rank ${rank}`);
    ensureShape("the feature weights", featureWeights, [filters, inputs]);
    ensureShape("the time weights", timeWeights, [filters, memory]);
    ensureShape("the bias", bias, [filters / rank]);
    ensureShape("the states", stateIn, [batches, memory * filters]);
    return {
      stateOut: { dimensions: [batches, memory * filters] },
      output: { dimensions: [batches, filters / rank] },
    };
  },
  // state' = [state without its oldest column, featureWeights · x]
  // output[u] = act(bias[u] + Σ over the filters of unit u and over time: timeWeights · state')
  reference({ input, featureWeights, timeWeights, bias, stateIn, rank, activation }, { stateOut, output }) {
    const [batches, inputs] = input.dimensions;
    const [filters] = featureWeights.dimensions;
    const memory = timeWeights.dimensions[1];
    const units = filters / rank;
    const [least, greatest] = activationRange(activation);
    const runBatch = (batch: number) => {
      const state = stateIn.data.slice(batch * memory * filters, (batch + 1) * memory * filters);
      const features = new Float64Array(filters);
      addProduct(features, featureWeights.data, input.data, batch * inputs, inputs);
      for (let filter = 0; filter < filters; filter++) state[(filter + 1) * memory - 1] = features[filter];
      for (let unit = 0; unit < units; unit++) {
        let sum = bias?.data[unit] ?? 0;
        const end = (unit + 1) * rank * memory;
        for (let at = unit * rank * memory; at < end; at++) sum += timeWeights.data[at] * state[at];
        output.data[batch * units + unit] = clamp(sum, least, greatest);
      }
      for (let filter = 0; filter < filters; filter++) {
        const start = filter * memory;
        state.copyWithin(start, start + 1, start + memory);
        state[start + memory - 1] = 0;
      }
      stateOut.data.set(state, batch * memory * filters);
    };
    return {
      units: batches,
      cost: 4 * (filters + 1) * (inputs + 2 * memory),
      compute(first, end) {
        for (let batch = first; batch < end; batch++) runBatch(batch);
      },
    };
  },
});
