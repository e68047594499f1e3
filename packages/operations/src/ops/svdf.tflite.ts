/**
 * SVDF in integers, and with 8-bit weights in a float network (hybrid). The state of a filter is its last results, the newest at the end.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { bool, int32, omittable, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { integerRange, type TensorInfo } from "../tensor.ts";
import { recurrentWork } from "../work.ts";
import { isHybrid, realWeights } from "./_hybrid.tflite.ts";
import { integerScaling } from "./_integer-scaling.tflite.ts";
import { rnnActivation, rnnProduct } from "./_rnn.tflite.ts";

const FLOAT32 = "TENSOR_FLOAT32";
const INT8 = "TENSOR_QUANT8_ASYMM_SIGNED";
const UINT8 = "TENSOR_QUANT8_ASYMM";
const INT16 = "TENSOR_QUANT16_SYMM";

export const svdf = defineOperation({
  name: "SVDF",
  code: 1027,
  summary: "A filter over features, then one over the last few of its results in time.",
  params: [
    tensor("input"),
    tensor("featureWeights"),
    tensor("timeWeights"),
    omittable(tensor("bias")),
    tensor("stateIn"),
    int32("rank"),
    int32("fusedActivationFunction"),
    bool("asymmetricQuantizeInputs"),
  ],
  outputs: [tensor("output"), tensor("stateOut")],
  types: [
    // For the activation TANH, which the HAL lacks.
    ["1.2", FLOAT32, FLOAT32, FLOAT32, FLOAT32, FLOAT32, FLOAT32, FLOAT32],
    ["1.2", FLOAT32, INT8, INT8, FLOAT32, FLOAT32, FLOAT32, FLOAT32],
    ["1.2", FLOAT32, UINT8, UINT8, FLOAT32, FLOAT32, FLOAT32, FLOAT32],
    ["1.2", INT8, INT8, INT8, "TENSOR_INT32", INT8, INT8, INT8],
    ["1.2", INT8, INT8, INT16, "TENSOR_INT32", INT16, INT8, INT16],
  ],
  ranks: { input: 2, featureWeights: 2, timeWeights: 2 },
  work: recurrentWork,
  infer({ input, featureWeights, timeWeights, bias, stateIn, rank }) {
    const [batches, inputs] = input.dimensions;
    const [filters] = featureWeights.dimensions;
    const memory = timeWeights.dimensions[1];
    ensure(rank >= 1 && filters % rank === 0, () => `${filters} filters are not a multiple of the rank ${rank}`);
    ensure(memory >= 1, () => "the time weights have no times");
    ensureShape("the feature weights", featureWeights, [filters, inputs]);
    ensureShape("the time weights", timeWeights, [filters, memory]);
    ensureShape("the bias", bias, [filters / rank]);
    ensureShape("the state", stateIn, [batches, memory * filters]);
    const { dimensions, scale, zeroPoint } = stateIn;
    return { output: { dimensions: [batches, filters / rank] }, stateOut: { dimensions, scale, zeroPoint } };
  },
  // state = [state without its oldest column, featureWeights · x]
  // output[u] = bias[u] + Σ over the filters of unit u and over time: timeWeights · state
  reference(args, { output, stateOut }) {
    const { input, featureWeights, timeWeights, bias, stateIn, rank } = args;
    const [batches, inputs] = input.dimensions;
    const [filters, memory] = timeWeights.dimensions;
    const units = filters / rank;
    const float = input.type === FLOAT32;
    const multiply = rnnProduct(input, featureWeights, args.asymmetricQuantizeInputs);
    const overTime = isHybrid(input, featureWeights) ? realWeights(timeWeights) : timeWeights;
    const toState = float ? (sum: number) => sum : requantiser(input, featureWeights, stateIn);
    const toOutput = float ? rnnActivation(args.fusedActivationFunction) : requantiser(stateIn, timeWeights, output);
    const row = new Float64Array(inputs);
    const features = new Float64Array(filters);
    const sums = new Float64Array(units);
    const { zeroPoint } = stateIn;
    const compute = (start: number, end: number) => {
      for (let batch = start; batch < end; batch++) {
        for (let index = 0; index < inputs; index++) row[index] = input.data[batch * inputs + index] - input.zeroPoint;
        features.fill(0);
        multiply(features, featureWeights, row, 0);
        if (bias) sums.set(bias.data);
        else sums.fill(0);
        const state = batch * filters * memory;
        for (let filter = 0; filter < filters; filter++) {
          const first = state + filter * memory;
          const newest = first + memory - 1;
          for (let at = first; at < newest; at++) stateOut.data[at] = stateIn.data[at + 1];
          stateOut.data[newest] = toState(features[filter]);
          let sum = 0;
          for (let time = 0; time < memory; time++) {
            sum += overTime.data[filter * memory + time] * (stateOut.data[first + time] - zeroPoint);
          }
          sums[Math.floor(filter / rank)] += sum;
        }
        for (let unit = 0; unit < units; unit++) output.data[batch * units + unit] = toOutput(sums[unit]);
      }
    };
    return { units: batches, cost: filters * (inputs + 2 * memory), compute };
  },
});

/**
 * From a sum of products of two tensors to an element of a result. As in .tflite, integers have no activation but the bounds of their
 * type.
 */
function requantiser(
  left: TensorInfo,
  right: TensorInfo,
  { type, scale, zeroPoint }: TensorInfo,
): (sum: number) => number {
  const [least, greatest] = integerRange(type);
  const scaled = integerScaling(left.scale, right.scale, scale);
  return (sum) => clamp(scaled(sum) + zeroPoint, least, greatest);
}
