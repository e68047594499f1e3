/**
 * MEAN of integers, 16-bit elements, of more than 4 axes, and with a quantisation of the result of its own. A quantised mean is rounded
 * once, one of integers is truncated toward 0.
 */
import { ensureElements, reduce, reducedAxes, reducedShape } from "@nnhal/operations/authoring";
import { isQuantised } from "../_elements.ts";
import { type AnyOutput, type AnyTensor, anyRank, inParts, writerOf } from "../_elementwise.ts";
import { isLong, wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";
import { axesOf, type ReducedAxes, sumsOf, withElements } from "./_reduction.ts";

export const mean = wider("MEAN", {
  from: "TENSOR_FLOAT32",
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_INT32",
    tfliteTypes.TENSOR_INT64,
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
  ],
  ranks: { input: anyRank },
  infer({ input: { dimensions }, axes, keepDimensions }) {
    const reduced = reducedAxes(axes, dimensions.length);
    ensureElements(dimensions, reduced);
    return { output: { dimensions: reducedShape(dimensions, reduced, keepDimensions > 0) } };
  },
  reference({ input, axes }, { output }) {
    const along = axesOf(input, axes);
    return isLong(input.type) ? longMean(input, along, output) : numberMean(input, along, output);
  },
});

function* numberMean(input: AnyTensor, { reduced, count }: ReducedAxes, output: AnyOutput): Generator<void, void> {
  const sums = yield* sumsOf(input, reduced, output.data.length);
  const { zeroPoint, scale } = input;
  const write = writerOf(output);
  const meanOf = (sum: number) => {
    if (isQuantised(input.type)) return ((sum - count * zeroPoint) / count) * scale;
    return input.type === "TENSOR_INT32" ? Math.trunc(sum / count) : sum / count;
  };
  yield* inParts(sums.length, (first, end) => {
    for (let index = first; index < end; index++) write(index, meanOf(sums[index]));
  });
}

function* longMean(input: AnyTensor, { reduced, count }: ReducedAxes, output: AnyOutput): Generator<void, void> {
  const means = output.data as BigInt64Array;
  yield* reduce(withElements<BigInt64Array>(input), reduced, means, (sum, element) => sum + element);
  const divisor = BigInt(count);
  yield* inParts(means.length, (first, end) => {
    for (let index = first; index < end; index++) means[index] /= divisor;
  });
}
