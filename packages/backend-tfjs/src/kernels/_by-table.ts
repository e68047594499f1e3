/** Functions of one 8-bit element: each of its 256 results is computed once by the reference kernel, and looked up. */
import type { KernelTensor } from "@nnhal/backend";
import { elementTable } from "@nnhal/backend/float32";
import type { OperationName, TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { type KernelSpec, only, storedKernel } from "./_kernel.ts";

/** The kernel of a function of 8-bit tensors. */
export function byTable(name: OperationName, refuse?: KernelSpec["refuse"]) {
  return storedKernel({
    accepts: only("TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"),
    ...(refuse && { refuse }),
    prepare(args: { readonly input: KernelTensor }, { output }: { readonly output: TensorInfo }, { keep }) {
      const { least, results } = elementTable(name, { ...args }, output);
      const table = keep(tf.tensor1d(results));
      return (read) => lookUp(read(args.input), least, table);
    },
  });
}

/** Looks up the results of elements. The first entry of the table is the result of `least`. */
export function lookUp(elements: tf.Tensor, least: number, table: tf.Tensor): tf.Tensor {
  const places = tf.cast(least === 0 ? elements : tf.sub(elements, least), "int32");
  const flat = tf.reshape<tf.Rank.R1>(places, [elements.size]);
  return tf.reshape(tf.gather(table, flat), elements.shape);
}
