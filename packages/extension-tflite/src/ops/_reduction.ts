/**
 * Reductions of all types and ranks of .tflite.
 */
import {
  type AnyOperandType,
  type AnyTensorData,
  type OperationTypes,
  runInSteps,
  type Tensor,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { ensureElements, reduce, reducedAxes, reducedCount, reducedShape } from "@nnhal/operations/kernels";
import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { anyRank, inParts } from "../_elementwise.ts";
import { isLong, wider } from "../_wider.ts";

type ReductionName = "REDUCE_SUM" | "REDUCE_PROD" | "REDUCE_MAX" | "REDUCE_MIN" | "REDUCE_ANY" | "REDUCE_ALL";

/** The part of a definition that differs within the family. */
interface Reduction {
  readonly types: readonly AnyOperandType[];
  /** True if at least one element is required. */
  readonly needsElements?: true;
  readonly kernel: (input: AnyTensor, axes: ReducedAxes, output: AnyOutput) => Generator<void, void>;
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
export function reduction<const Name extends ReductionName>(name: Name, { types, needsElements, kernel }: Reduction) {
  const definition = wider<ReductionName>(name, {
    from: name === "REDUCE_ANY" || name === "REDUCE_ALL" ? "TENSOR_BOOL8" : "TENSOR_FLOAT32",
    types,
    ranks: { input: anyRank },
    infer({ input: { dimensions }, axes, keepDimensions }) {
      const reduced = reducedAxes(axes, dimensions.length);
      if (needsElements) ensureElements(dimensions, reduced);
      return { output: { dimensions: reducedShape(dimensions, reduced, keepDimensions) } };
    },
    reference: ({ input, axes }, { output }) => kernel(input, axesOf(input, axes), output),
  });
  // It is made of the definition of this name.
  return definition as OperationTypes[Name];
}

/** Functions that combine elements: one for 64-bit integers, one for all others. */
export interface Combination {
  readonly start: number;
  readonly combine: (result: number, element: number) => number;
  readonly startLong?: bigint;
  readonly combineLong?: (result: bigint, element: bigint) => bigint;
}

/** Combines elements as they are, into results of the same type. */
export function* combineAll(
  input: AnyTensor,
  reduced: readonly boolean[],
  output: AnyOutput,
  { start, combine, startLong = 0n, combineLong }: Combination,
): Generator<void, void> {
  if (isLong(input.type) && combineLong !== undefined) {
    const results = output.data as BigInt64Array;
    results.fill(startLong);
    yield* runInSteps(reduce(withElements<BigInt64Array>(input), reduced, results, combineLong));
    return;
  }
  const results = new Float64Array(output.data.length).fill(start);
  yield* runInSteps(reduce(withElements<TensorData>(input), reduced, results, combine));
  yield* store(output, (index) => results[index]);
}

/** The sums of elements, exact up to 2^53. Not of 64-bit integers. */
export function* sumsOf(input: AnyTensor, reduced: readonly boolean[], count: number): Generator<void, Float64Array> {
  const sums = new Float64Array(count);
  yield* runInSteps(reduce(withElements<TensorData>(input), reduced, sums, (sum, element) => sum + element));
  return sums;
}

/** Writes each result as it is. Not of 64-bit integers. */
export function* store(output: AnyOutput, result: (index: number) => number): Generator<void, void> {
  const data = output.data as TensorData;
  yield* inParts(data.length, (first, end) => {
    for (let index = first; index < end; index++) data[index] = result(index);
  });
}

/** The tensor with elements in the array that its type has. */
export function withElements<Data extends AnyTensorData>(tensor: AnyTensor): Tensor<Data> {
  return tensor as Tensor<Data>;
}
