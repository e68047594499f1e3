/** RNN, its sequence forms, and SVDF. */
import { type KernelTensor, optionalTensor, requiredTensor, type TensorArgs } from "@nnhal/backend";
import { isFloat, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { type Bag, floatKernel, type Read, rank2, type Setup, steppedKernel } from "./_kernel.ts";
import { activate } from "./_quantised.ts";
import { type CellStep, contributionsOf, linkAuxiliary, overTime, runSequence, sideBySide } from "./_sequence.ts";

interface Cell {
  readonly weights: KernelTensor;
  readonly recurrentWeights: KernelTensor;
  readonly bias: KernelTensor;
  readonly auxiliaryWeights?: KernelTensor | undefined;
}

interface PreparedCell {
  readonly weights: (read: Read) => tf.Tensor2D;
  readonly auxiliaryWeights: ((read: Read) => tf.Tensor2D) | undefined;
  /** h' = act(contribution + R·h + b) */
  step(read: Read, bag?: Bag): CellStep;
}

function prepareCell(cell: Cell, activation: number, setup: Setup): PreparedCell {
  const recurrentWeights = sideBySide([cell.recurrentWeights], setup);
  return {
    weights: sideBySide([cell.weights], setup),
    auxiliaryWeights: cell.auxiliaryWeights && sideBySide([cell.auxiliaryWeights], setup),
    step(read, bag) {
      const recurrent = bag?.tidy(() => recurrentWeights(read)) ?? recurrentWeights(read);
      const bias = read(cell.bias);
      return (contribution, [state]) => {
        const sum = tf.add(tf.add(contribution, tf.matMul(state, recurrent)), bias);
        return [rank2(activate(sum, activation))];
      };
    },
  };
}

interface Rnn extends Cell {
  readonly input: KernelTensor;
  readonly hiddenStateIn: KernelTensor;
  readonly activation: number;
}

export const rnn = floatKernel({
  prepare({ input, hiddenStateIn, activation, ...args }: Rnn, _, setup) {
    const cell = prepareCell(args, activation, setup);
    return (read) => {
      const contribution = rank2(tf.matMul(rank2(read(input)), cell.weights(read)));
      const [state] = cell.step(read)(contribution, [rank2(read(hiddenStateIn))]);
      return [state, tf.clone(state)];
    };
  },
});

const DISPATCHES_OF_A_CELL = 5;

export const unidirectionalSequenceRnn = steppedKernel({
  accepts: isFloat,
  dispatches: overTime(DISPATCHES_OF_A_CELL),
  prepare(
    { input, hiddenStateIn, activation, timeMajor, ...args }: Rnn & { readonly timeMajor: number },
    { hiddenStateOut }: { readonly hiddenStateOut: TensorInfo | undefined },
    setup,
  ) {
    const cell = prepareCell(args, activation, setup);
    const order = { timeMajor: timeMajor !== 0 };
    return function* (read, bag) {
      const contributions = bag.tidy(() => contributionsOf([[read(input), cell.weights(read)]], order.timeMajor));
      const initial = [rank2(read(hiddenStateIn))];
      const { outputs, states } = yield* runSequence(contributions, initial, cell.step(read, bag), order, bag);
      return [outputs, hiddenStateOut && states[0]];
    };
  },
});

interface Bidirectional {
  readonly input: KernelTensor;
  readonly auxiliaryInput: KernelTensor | undefined;
  readonly activation: number;
  readonly timeMajor: boolean;
  readonly mergeOutputs: boolean;
}

export const bidirectionalSequenceRnn = steppedKernel({
  accepts: isFloat,
  dispatches: overTime(2 * DISPATCHES_OF_A_CELL),
  prepare(
    { input, auxiliaryInput, activation, timeMajor, mergeOutputs, ...args }: Bidirectional & TensorArgs,
    outputs: Readonly<Record<string, TensorInfo | undefined>>,
    setup,
  ) {
    const cellOf = (prefix: string) =>
      prepareCell(
        {
          weights: requiredTensor(args, `${prefix}Weights`),
          recurrentWeights: requiredTensor(args, `${prefix}RecurrentWeights`),
          bias: requiredTensor(args, `${prefix}Bias`),
          auxiliaryWeights: optionalTensor(args, `${prefix}AuxiliaryWeights`),
        },
        activation,
        setup,
      );
    const [forward, backward] = [cellOf("fw"), cellOf("bw")];
    const linked = linkAuxiliary(input, auxiliaryInput, forward.auxiliaryWeights !== undefined);
    const run = (read: Read, cell: PreparedCell, seen: KernelTensor, prefix: string, backwards: boolean, bag: Bag) => {
      const { auxiliary } = linked;
      const state = rank2(read(requiredTensor(args, `${prefix}HiddenStateIn`)));
      const contributions = bag.tidy(() => {
        const extra = auxiliary && cell.auxiliaryWeights?.(read);
        const parts: [tf.Tensor, tf.Tensor2D][] = [[read(seen), cell.weights(read)]];
        if (auxiliary && extra) parts.push([read(auxiliary), extra]);
        return contributionsOf(parts, timeMajor);
      });
      return runSequence(contributions, [state], cell.step(read, bag), { timeMajor, backwards }, bag);
    };
    return function* (read, bag) {
      const fw = yield* run(read, forward, input, "fw", false, bag);
      const bw = yield* run(read, backward, linked.bwInput, "bw", true, bag);
      return [
        mergeOutputs ? bag.tidy(() => tf.concat([fw.outputs, bw.outputs], 2)) : fw.outputs,
        outputs.bwOutput && bw.outputs,
        outputs.fwHiddenStateOut && fw.states[0],
        outputs.bwHiddenStateOut && bw.states[0],
      ];
    };
  },
});

interface Svdf {
  readonly input: KernelTensor;
  readonly featureWeights: KernelTensor;
  readonly timeWeights: KernelTensor;
  readonly bias: KernelTensor | undefined;
  readonly stateIn: KernelTensor;
  readonly rank: number;
  readonly activation: number;
}

/** The features go to the newest slot of the state. After the results the state moves on by one slot, and the newest slot is 0. */
export const svdf = floatKernel({
  prepare({ input, featureWeights, timeWeights, bias, stateIn, rank, activation }: Svdf, _, setup) {
    const [batches] = input.dimensions;
    const [filters, memory] = timeWeights.dimensions;
    const weightsOf = sideBySide([featureWeights], setup);
    return (read) => {
      const features = tf.reshape(tf.matMul(rank2(read(input)), weightsOf(read)), [batches, filters, 1]);
      const before = tf.reshape(read(stateIn), [batches, filters, memory]);
      const older = tf.slice(before, [0, 0, 0], [batches, filters, memory - 1]);
      const state = tf.concat([older, features], 2);
      const weighted = tf.sum(tf.mul(state, tf.reshape(read(timeWeights), [1, filters, memory])), 2);
      const sums = tf.sum(tf.reshape(weighted, [batches, filters / rank, rank]), 2);
      const kept = tf.slice(state, [0, 0, 1], [batches, filters, memory - 1]);
      const moved = tf.concat([kept, tf.zeros([batches, filters, 1])], 2);
      return [
        tf.reshape(moved, [batches, filters * memory]),
        activate(bias ? tf.add(sums, read(bias)) : tf.clone(sums), activation),
      ];
    };
  },
});
