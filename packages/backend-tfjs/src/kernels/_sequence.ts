/** Sequences along time, and the weights of recurrent cells. */
import type { KernelTensor } from "@nnhal/backend";
import type { AnyArgs } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { type Bag, isTensorInfo, type Read, rank2, type Setup } from "./_kernel.ts";

/** The result of `join` on several tensors: computed once if all are constant, else in each run. */
export function joinTensors(
  tensors: readonly KernelTensor[],
  { constant, keep }: Setup,
  join: (tensors: tf.Tensor[]) => tf.Tensor,
): (read: Read) => tf.Tensor {
  const constants = tensors.map(constant).filter((tensor) => tensor !== undefined);
  if (constants.length < tensors.length) return (read) => join(tensors.map(read));
  const kept = keep(join(constants));
  return () => kept;
}

/** Weights [units, inputs] of several gates side by side, as [inputs, gates · units]. */
export function sideBySide(weights: readonly KernelTensor[], setup: Setup): (read: Read) => tf.Tensor2D {
  const all = joinTensors(weights, setup, (tensors) => tf.transpose(tf.concat(tensors, 0)));
  return (read) => rank2(all(read));
}

/** One step of a cell: from the contributions of the inputs and the states before to the states after. */
export type CellStep = (contribution: tf.Tensor2D, states: readonly tf.Tensor2D[]) => readonly tf.Tensor2D[];

/** [times, batches, size] of a sequence of either order. */
function toTimeMajor(sequence: tf.Tensor, timeMajor: boolean): tf.Tensor {
  return timeMajor ? sequence : tf.transpose(sequence, [1, 0, 2]);
}

/**
 * Runs a cell along time, with a pause after each point of it. `contributions`: [times, batches, gates · units]. Returns the first
 * state at all times, in the order of the input, and all final states.
 *
 * Time is split into blocks, and each block into points, because tfjs reads a whole tensor to slice it.
 */
export function* runSequence(
  contributions: tf.Tensor,
  initial: readonly tf.Tensor2D[],
  step: CellStep,
  { timeMajor, backwards = false }: { readonly timeMajor: boolean; readonly backwards?: boolean },
  bag: Bag,
): Generator<void, { readonly outputs: tf.Tensor; readonly states: readonly tf.Tensor2D[] }, void> {
  const [times] = contributions.shape;
  const size = Math.ceil(Math.sqrt(times));
  const starts = Array.from({ length: Math.ceil(times / size) }, (_, index) => index * size);
  if (backwards) starts.reverse();
  let states = initial;
  const blocks: tf.Tensor[] = [];
  for (const start of starts) {
    const points = bag.tidy(() => {
      const block = tf.slice(contributions, start, Math.min(size, times - start));
      return tf.unstack(block).map(rank2);
    });
    if (backwards) points.reverse();
    const outputs: tf.Tensor[] = [];
    for (const contribution of points) {
      const before = states;
      states = bag.tidy(() => [...step(contribution, before)]);
      outputs.push(states[0]);
      // The first state is an output of the block. It is disposed of with the block, unless the next point needs it.
      bag.drop([contribution, ...before.slice(1)]);
      yield;
    }
    if (backwards) outputs.reverse();
    blocks.push(bag.tidy(() => tf.stack(outputs)));
    bag.drop(outputs.filter((output) => output !== states[0]));
    yield;
  }
  if (backwards) blocks.reverse();
  const outputs = bag.tidy(() => {
    const all = blocks.length === 1 ? tf.clone(blocks[0]) : tf.concat(blocks, 0);
    return timeMajor ? all : tf.transpose(all, [1, 0, 2]);
  });
  const last = bag.tidy(() => states.map((state) => tf.clone(state)));
  bag.drop([...blocks, ...states]);
  return { outputs, states: last };
}

/** The `dispatches` of a kernel whose cell takes some computations at each point in time. */
export function overTime(perTime: number): (args: AnyArgs) => number {
  return ({ input, timeMajor }) => {
    const { dimensions = [] } = isTensorInfo(input) ? input : {};
    return perTime * Math.max(dimensions[timeMajor ? 0 : 1] ?? 1, 1);
  };
}

/** The contributions of inputs and auxiliary inputs at all times: [times, batches, gates · units]. */
export function contributionsOf(
  parts: readonly (readonly [sequence: tf.Tensor, weights: tf.Tensor2D])[],
  timeMajor: boolean,
): tf.Tensor {
  const products = parts.map(([sequence, weights]) => {
    const ordered = toTimeMajor(sequence, timeMajor);
    const [times, batches, size] = ordered.shape;
    const rows = tf.reshape<tf.Rank.R2>(ordered, [times * batches, size]);
    return tf.reshape(tf.matMul(rows, weights), [times, batches, weights.shape[1]]);
  });
  return products.reduce((sum, product) => tf.add(sum, product));
}

/** The input of the backward cell and the auxiliary input of both cells, by the rule of the HAL. */
export function linkAuxiliary(
  input: KernelTensor,
  auxiliaryInput: KernelTensor | undefined,
  hasAuxiliaryWeights: boolean,
): { readonly bwInput: KernelTensor; readonly auxiliary: KernelTensor | undefined } {
  if (auxiliaryInput === undefined) return { bwInput: input, auxiliary: undefined };
  if (hasAuxiliaryWeights) return { bwInput: input, auxiliary: auxiliaryInput };
  return { bwInput: auxiliaryInput, auxiliary: undefined };
}
