/**
 * Reductions of all types and ranks of .tflite.
 */
import type { AnyOperandType } from "../operand-type.ts";
import type { Filled, KernelResult, Phase } from "../phases.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { fillElements } from "./_copies.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { anyRank } from "./_elementwise.tflite.ts";
import { longsIn, numbersIn } from "./_integers.tflite.ts";
import { ensureElements, reduce, reducedAxes, reducedCount, reducedShape } from "./_reduction.ts";
import { isLong, widerOf } from "./_wider.tflite.ts";
import type { reduceAll } from "./reduce-all.ts";
import type { reduceAny } from "./reduce-any.ts";
import type { reduceMax } from "./reduce-max.ts";
import type { reduceMin } from "./reduce-min.ts";
import type { reduceProd } from "./reduce-prod.ts";
import type { reduceSum } from "./reduce-sum.ts";

type ReductionOperation =
  | typeof reduceSum
  | typeof reduceProd
  | typeof reduceMax
  | typeof reduceMin
  | typeof reduceAny
  | typeof reduceAll;

/** The part of a definition that differs within the family. */
interface Reduction {
  readonly types: readonly AnyOperandType[];
  /** True if at least one element is required. */
  readonly needsElements?: true;
  readonly kernel: (input: AnyTensor, axes: ReducedAxes, output: AnyOutput) => KernelResult;
}

/** The axes of a reduction. */
export interface ReducedAxes {
  /** For each axis whether it is reduced. */
  readonly reduced: readonly boolean[];
  /** Number of elements that each result is made of. */
  readonly count: number;
}

/** The axes that an operand of axes names. */
export function axesOf({ dimensions }: TensorInfo, axes: Tensor): ReducedAxes {
  const reduced = reducedAxes(axes, dimensions.length);
  return { reduced, count: reducedCount(dimensions, reduced) };
}

/** Defines one of the operations; the model chooses the quantisation of the result. */
export function reduction<Base extends ReductionOperation>(base: Base, { types, needsElements, kernel }: Reduction) {
  return widerOf<ReductionOperation, Base>(base, {
    from: base.name === "REDUCE_ANY" || base.name === "REDUCE_ALL" ? "TENSOR_BOOL8" : "TENSOR_FLOAT32",
    types,
    ranks: { input: anyRank },
    infer({ input: { dimensions }, axes, keepDimensions }) {
      const reduced = reducedAxes(axes, dimensions.length);
      if (needsElements) ensureElements(dimensions, reduced);
      return { output: { dimensions: reducedShape(dimensions, reduced, keepDimensions) } };
    },
    reference: ({ input, axes }, { output }) => kernel(input, axesOf(input, axes), output),
  });
}

/** Functions that combine elements: one for 64-bit integers, one for all others. */
export interface Combination {
  readonly start: number;
  readonly combine: (result: number, element: number) => number;
  readonly startLong?: bigint;
  readonly combineLong?: (result: bigint, element: bigint) => bigint;
}

/** Combines elements as they are, into results of the same type. */
export function combineAll(
  input: AnyTensor,
  reduced: readonly boolean[],
  output: AnyOutput,
  { start, combine, startLong = 0n, combineLong }: Combination,
): readonly Phase[] {
  if (isLong(input.type) && combineLong !== undefined) {
    const results = longsIn(output.data);
    return [
      fillElements(results, startLong),
      reduce({ data: longsIn(input.data), dimensions: input.dimensions }, reduced, results, combineLong),
    ];
  }
  const results = new Float64Array(output.data.length);
  const phase = reduce({ data: numbersIn(input.data), dimensions: input.dimensions }, reduced, results, combine);
  return [fillElements(results, start), phase, store(output, (index) => results[index])];
}

/** The sums of elements, exact up to 2^53. Not of 64-bit integers. */
export function sumsOf(input: AnyTensor, reduced: readonly boolean[], count: number): Filled<Float64Array> {
  const data = new Float64Array(count);
  return {
    data,
    phases: [
      reduce(
        { data: numbersIn(input.data), dimensions: input.dimensions },
        reduced,
        data,
        (sum, element) => sum + element,
      ),
    ],
  };
}

/** Writes each result as it is. Not of 64-bit integers. */
export function store(output: AnyOutput, result: (index: number) => number): Phase {
  const data = numbersIn(output.data);
  return {
    units: data.length,
    compute(first, end) {
      for (let index = first; index < end; index++) data[index] = result(index);
    },
  };
}
