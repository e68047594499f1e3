/** Reductions along axes, and the places of extremes. */
import type { KernelTensor } from "@nnhal/backend";
import { isFloat, resolveAxis, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { floatKernel, only, realKernel, storedKernel, type TfjsKernel } from "./_kernel.ts";
import { isQuantised } from "./_quantised.ts";

interface Reduction {
  readonly input: KernelTensor;
  readonly axes: KernelTensor;
}

interface One {
  readonly output: TensorInfo;
}

/** Shape inference has resolved the shape of the result: [1] where nothing is left. */
function reduction(make: typeof floatKernel, reduce: (input: tf.Tensor, axes: number[]) => tf.Tensor): TfjsKernel {
  return make({
    prepare({ input, axes }: Reduction, { output }: One) {
      const rank = input.dimensions.length;
      const along = [...new Set(Array.from(axes.data ?? [], (axis) => resolveAxis(axis, rank)))];
      // Without axes tfjs reduces all of them, and the HAL none.
      if (along.length === 0) return (read) => tf.clone(read(input));
      return (read) => tf.reshape(reduce(read(input), along), [...output.dimensions]);
    },
  });
}

const booleans: typeof floatKernel = (spec) => storedKernel({ accepts: only("TENSOR_BOOL8"), ...spec });
const ordered: typeof floatKernel = (spec) =>
  storedKernel({ accepts: (type) => isFloat(type) || isQuantised(type), ...spec });

export const mean = reduction(realKernel, (input, axes) => tf.mean(input, axes));
export const reduceSum = reduction(floatKernel, (input, axes) => tf.sum(input, axes));
export const reduceProd = reduction(floatKernel, (input, axes) => tf.prod(input, axes));
/** The order of quantised numbers is that of the real ones, and the quantisation stays. */
export const reduceMax = reduction(ordered, (input, axes) => tf.max(input, axes));
export const reduceMin = reduction(ordered, (input, axes) => tf.min(input, axes));
export const reduceAll = reduction(booleans, (input, axes) => tf.all(tf.cast(input, "bool"), axes));
export const reduceAny = reduction(booleans, (input, axes) => tf.any(tf.cast(input, "bool"), axes));

function extreme(find: (input: tf.Tensor, axis: number) => tf.Tensor): TfjsKernel {
  return storedKernel({
    prepare({ input, axis }: { readonly input: KernelTensor; readonly axis: number }, { output }: One) {
      const along = resolveAxis(axis, input.dimensions.length);
      return (read) => tf.reshape(find(read(input), along), [...output.dimensions]);
    },
  });
}

export const argmax = extreme((input, axis) => tf.argMax(input, axis));
export const argmin = extreme((input, axis) => tf.argMin(input, axis));

/** Of equal values the one with the larger index comes first; tfjs has it the other way round, so the rows are reversed. */
export const topkV2 = storedKernel({
  prepare({ input, k }: { readonly input: KernelTensor; readonly k: number }) {
    const last = input.dimensions.length - 1;
    const greatest = input.dimensions[last] - 1;
    return (read) => {
      const { values, indices } = tf.topk(tf.reverse(read(input), last), k, true);
      return [values, tf.sub(tf.scalar(greatest, "int32"), indices)];
    };
  },
});
