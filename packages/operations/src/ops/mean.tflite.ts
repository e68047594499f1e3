/**
 * MEAN of integers, 16-bit elements, of more than 4 axes, and with a separate quantisation of the result. A quantised mean is rounded
 * once, one of integers is truncated toward 0.
 */

import type { Phase } from "../phases.ts";
import { type AnyOutput, type AnyTensor, isQuantised, writerOf } from "./_elements.tflite.ts";
import { anyRank } from "./_elementwise.tflite.ts";
import { longsIn } from "./_integers.tflite.ts";
import { axesOf, type ReducedAxes, sumsOf } from "./_reduction.tflite.ts";
import { ensureElements, reduce, reducedAxes, reducedShape } from "./_reduction.ts";
import { arithmeticTypes } from "./_types.tflite.ts";
import { isLong, wider } from "./_wider.tflite.ts";
import { mean as base } from "./mean.ts";

export const mean = wider(base, {
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

function numberMean(input: AnyTensor, { reduced, count }: ReducedAxes, output: AnyOutput): readonly Phase[] {
  const { data: sums, phases } = sumsOf(input, reduced, output.data.length);
  const { zeroPoint, scale } = input;
  const write = writerOf(output);
  const meanOf = (sum: number) => {
    if (isQuantised(input.type)) return ((sum - count * zeroPoint) / count) * scale;
    return input.type === "TENSOR_INT32" ? Math.trunc(sum / count) : sum / count;
  };
  const compute = (first: number, end: number) => {
    for (let index = first; index < end; index++) write(index, meanOf(sums[index]));
  };
  return [...phases, { units: sums.length, compute }];
}

function longMean(input: AnyTensor, { reduced, count }: ReducedAxes, output: AnyOutput): readonly Phase[] {
  const means = longsIn(output.data);
  const summing = reduce(
    { data: longsIn(input.data), dimensions: input.dimensions },
    reduced,
    means,
    (sum, element) => sum + element,
  );
  const divisor = BigInt(count);
  const compute = (first: number, end: number) => {
    for (let index = first; index < end; index++) means[index] /= divisor;
  };
  return [summing, { units: means.length, compute }];
}
