/** Reductions along axes, and the places of extremes. */
import type { KernelTensor } from "@nnhal/backend";
import { whyTooManyAlong } from "@nnhal/backend/float32";
import {
  createData,
  elementCount,
  integerRange,
  isFloat,
  OperationError,
  operationByCode,
  resolveAxis,
  runInSteps,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import * as tf from "@tensorflow/tfjs-core";
import { firstOf, floatKernel, isTensorInfo, only, steppedKernel, storedKernel } from "./_kernel.ts";
import { centre, isQuantised, roundAway } from "./_quantised.ts";

interface Reduction {
  readonly input: KernelTensor;
  readonly axes: KernelTensor;
}

interface One {
  readonly output: TensorInfo;
}

function axesOf({ dimensions }: KernelTensor, { data }: KernelTensor): number[] {
  return [...new Set(Array.from(data ?? [], (axis) => resolveAxis(axis, dimensions.length)))];
}

/** The shape of the result is known from shape inference: [1] if no axis is left. */
function reduction(make: typeof floatKernel, reduce: (input: tf.Tensor, axes: number[]) => tf.Tensor) {
  return make({
    prepare({ input, axes }: Reduction, { output }: One) {
      const along = axesOf(input, axes);
      // Without axes tfjs reduces all of them, and the HAL none.
      if (along.length === 0) return (read) => tf.clone(read(input));
      return (read) => tf.reshape(reduce(read(input), along), [...output.dimensions]);
    },
  });
}

const booleans: typeof floatKernel = (spec) => storedKernel({ accepts: only("TENSOR_BOOL8"), ...spec });
const order: typeof floatKernel = (spec) =>
  storedKernel({ accepts: (type) => isFloat(type) || isQuantised(type), ...spec });

/** The mean of the whole numbers less their zero point, rounded with ties away from 0. The quantisation does not change. */
const quantisedMean = storedKernel({
  accepts: isQuantised,
  refuse: ({ input, axes }) => (isTensorInfo(input) && isTensorInfo(axes) ? whyTooManyAlong(input, axes) : undefined),
  prepare({ input, axes }: Reduction, { output }: One) {
    const along = axesOf(input, axes);
    const count = elementCount(along.map((axis) => input.dimensions[axis]));
    const problem = whyTooManyAlong(input, axes);
    if (problem !== undefined) throw new OperationError(problem);
    const [least, greatest] = integerRange(output.type);
    return (read) => {
      const whole = centre(read(input), input);
      const means = along.length === 0 ? whole : roundAway(tf.div(tf.sum(whole, along), count));
      return tf.reshape(tf.clipByValue(tf.add(means, input.zeroPoint), least, greatest), [...output.dimensions]);
    };
  },
});

export const mean = firstOf(
  quantisedMean,
  reduction(floatKernel, (input, axes) => tf.mean(input, axes)),
);
export const reduceSum = reduction(floatKernel, (input, axes) => tf.sum(input, axes));
export const reduceProd = reduction(floatKernel, (input, axes) => tf.prod(input, axes));
/** Quantised numbers have the order of the real numbers, and the quantisation does not change. */
export const reduceMax = reduction(order, (input, axes) => tf.max(input, axes));
export const reduceMin = reduction(order, (input, axes) => tf.min(input, axes));
export const reduceAll = reduction(booleans, (input, axes) => tf.all(tf.cast(input, "bool"), axes));
export const reduceAny = reduction(booleans, (input, axes) => tf.any(tf.cast(input, "bool"), axes));

function extreme(find: (input: tf.Tensor, axis: number) => tf.Tensor) {
  return storedKernel({
    prepare({ input, axis }: { readonly input: KernelTensor; readonly axis: number }, { output }: One) {
      const along = resolveAxis(axis, input.dimensions.length);
      return (read) => tf.reshape(find(read(input), along), [...output.dimensions]);
    },
  });
}

export const argmax = extreme((input, axis) => tf.argMax(input, axis));
export const argmin = extreme((input, axis) => tf.argMin(input, axis));

/**
 * Computed by the reference kernel, with its pauses. tfjs sorts in plain JavaScript too, but takes much longer and does not pause.
 */
export const topkV2 = steppedKernel({
  prepare({ input, k }: { readonly input: KernelTensor; readonly k: number }, outputs: TopkOutputs) {
    const reference = operationByCode(OperationType.TOPK_V2)?.reference;
    return function* (read, bag, context) {
      const source = read(input);
      const given: Tensor = { ...input, data: source.dataSync() };
      const [values, indices] = [outputs.values, outputs.indices].map((info) => ({
        ...info,
        data: createData(info.type, elementCount(info.dimensions)),
      }));
      yield* runInSteps(reference?.({ input: given, k }, { values, indices }, context));
      return bag.tidy(() => {
        const elements = source.dtype === "int32" ? new Int32Array(values.data) : new Float32Array(values.data);
        return [
          tf.tensor(elements, [...values.dimensions], source.dtype),
          tf.tensor(new Int32Array(indices.data), [...indices.dimensions], "int32"),
        ];
      });
    };
  },
});

interface TopkOutputs {
  readonly values: TensorInfo;
  readonly indices: TensorInfo;
}
