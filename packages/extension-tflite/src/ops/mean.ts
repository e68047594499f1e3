/**
 * MEAN of integers, 16-bit elements, of more than 4 axes, and with a separate quantisation of the result. A quantised mean is rounded
 * once, one of integers is truncated toward 0.
 */
import { runInSteps } from "@nnhal/operations";
import { ensureElements, reduce, reducedAxes, reducedShape } from "@nnhal/operations/kernels";
import { type AnyOutput, type AnyTensor, isQuantised, writerOf } from "../_elements.ts";
import { anyRank, inParts } from "../_elementwise.ts";
import { arithmeticTypes } from "../_types.ts";
import { isLong, wider } from "../_wider.ts";
import { axesOf, type ReducedAxes, sumsOf, withElements } from "./_reduction.ts";

export const mean = wider("MEAN", {
  from: "TENSOR_FLOAT32",
  types: arithmeticTypes,
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
  yield* runInSteps(reduce(withElements<BigInt64Array>(input), reduced, means, (sum, element) => sum + element));
  const divisor = BigInt(count);
  yield* inParts(means.length, (first, end) => {
    for (let index = first; index < end; index++) means[index] /= divisor;
  });
}
