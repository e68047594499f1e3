/**
 * Faults of integer arithmetic that whole families of operations share: intermediate sums of 16 bits that overflow, as engines have them
 * on processors without dot products, sums in float32, and results that are always rounded down.
 */
import { type AnyArgs, elementAt, type OperationName, type OutputTensor, operations } from "@nnhal/operations";
import { realSteps, roundedDown } from "../arithmetic/reals.ts";
import { exactResults, type Summing, type SumOperands } from "../products/exact.ts";
import { faultOf, isTensor, type KernelFault, numberOf, tensorOf } from "./kernel-fault.test-helper.ts";

/** Products of unsigned activations and signed weights, added in pairs that saturate, as x86 has them before VNNI. */
const saturating: Summing = (values, weights, zeroPoints) =>
  inPairs(values, weights, zeroPoints, (sum) => Math.max(-32_768, Math.min(32_767, sum)));

/** Products of signed numbers, added in pairs that wrap, as ARM has them without dot products. */
const wrap: Summing = (values, weights, zeroPoints) => inPairs(values, weights, zeroPoints, (sum) => (sum << 16) >> 16);

/** All products, added in float32. */
const inFloat32: Summing = (values, weights, [ofValues, ofWeights]) =>
  values.reduce(
    (sum, value, index) => Math.fround(sum + (value - ofValues) * (elementAt(weights, index) - ofWeights)),
    0,
  );

/**
 * Sums the products of the stored elements in pairs of 16 bits, and adds the correction for the zero points afterwards.
 * Unsigned weights are made signed before.
 */
function inPairs(
  values: Float64Array,
  weights: Float64Array,
  [ofValues, ofWeights]: readonly [number, number],
  narrow: (sum: number) => number,
): number {
  const shift = weights.some((weight) => weight > 127) ? 128 : 0;
  let [sum, allValues, allWeights] = [0, 0, 0];
  for (let index = 0; index < values.length; index += 2) {
    let pair = 0;
    for (const place of [index, index + 1]) {
      if (place >= values.length) continue;
      const [value, weight] = [elementAt(values, place), elementAt(weights, place) - shift];
      pair += value * weight;
      allValues += value;
      allWeights += weight;
    }
    sum += narrow(pair);
  }
  const zero = ofWeights - shift;
  return sum - ofValues * allWeights - zero * allValues + values.length * ofValues * zero;
}

function operandsOf(name: string, args: AnyArgs): SumOperands {
  return {
    name,
    tensor: (param) => tensorOf(args[param] ?? (param === "filter" ? args.weights : undefined)),
    number: (param) => (args[param] === undefined || isTensor(args[param]) ? undefined : numberOf(args[param])),
  };
}

/** A weighted sum of 8 bits whose activations have a type. */
function makeSum(name: OperationName, what: string, type: OutputTensor["type"], summing: Summing): KernelFault {
  return faultOf(
    name,
    what,
    {
      after: ([output], args) => {
        if (output === undefined || output.type !== type) return;
        const [right, wrong] = [undefined, summing].map(
          (by) => exactResults(operandsOf(name, args), output, by).values,
        );
        output.data.forEach((_, index) => {
          if (right?.[index] !== wrong?.[index]) output.data[index] = Math.round(wrong?.[index] ?? 0);
        });
      },
    },
    "limits",
  );
}

const sums = ["CONV_2D", "GROUPED_CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"] as const;

export const saturationFaults: readonly KernelFault[] = sums.flatMap((name) => [
  makeSum(name, "pairs of unsigned and signed products saturate in 16 bits", "TENSOR_QUANT8_ASYMM", saturating),
  makeSum(name, "pairs of signed products overflow in 16 bits", "TENSOR_QUANT8_ASYMM_SIGNED", wrap),
  makeSum(name, "sums beyond 2^24 lose digits in float32", "TENSOR_QUANT8_ASYMM", inFloat32),
]);

/** The float kernel of an operation, rounded down to a step. */
function roundingDown(name: OperationName): KernelFault {
  return faultOf(
    name,
    "quantised results are always rounded down",
    {
      after: (outputs, args) => {
        const [output] = outputs;
        const operation = operations.find((known) => known.name === name);
        if (output === undefined || output.scale === 0 || operation === undefined) return;
        const { outputs: params } = operation.forms[0];
        const named = Object.fromEntries(outputs.map((own, place) => [elementAt(params, place).name, own]));
        const steps = realSteps(operation, args, named);
        if (steps !== undefined) output.data.set(roundedDown(steps, output.type));
      },
    },
    "bias",
  );
}

/** One or more of each family: sums, products, windows, functions, means, normalisations, and what only changes the scale. */
export const roundingFaults: readonly KernelFault[] = [
  ...(["ADD", "SUB", "MUL", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV_2D", "FULLY_CONNECTED"] as const).map(
    roundingDown,
  ),
  ...(
    ["MEAN", "LOGISTIC", "TANH", "SOFTMAX", "HARD_SWISH", "L2_NORMALIZATION", "PRELU", "RESIZE_BILINEAR"] as const
  ).map(roundingDown),
  faultOf(
    "QUANTIZE",
    "results are always rounded down",
    {
      after: ([output], { input }) => {
        if (output === undefined || output.scale === 0) return;
        const { scale, zeroPoint } = output;
        const steps = Float64Array.from(tensorOf(input).data, (real) => real / scale + zeroPoint);
        if (steps.every(Number.isFinite)) output.data.set(roundedDown(steps, output.type));
      },
    },
    "bias",
  ),
];
