/** Two basic recurrent cells that run along time, one forwards and one backwards: BIDIRECTIONAL_SEQUENCE_RNN of the HAL and of .tflite. */
import type { Phase } from "../phases.ts";
import type { OutputTensor, Tensor, TensorInfo } from "../tensor.ts";
import { linkAuxiliary } from "./_auxiliary.ts";
import type { Product } from "./_matrix.ts";
import { rnnUnits, runRnnSequence } from "./_rnn.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";

/** The operands of both cells, and of what links them. */
export type RnnPair<T extends TensorInfo> = {
  readonly [Name in `${"fw" | "bw"}${"Weights" | "RecurrentWeights" | "Bias" | "HiddenStateIn"}`]: T;
} & {
  readonly [Name in `${"fw" | "bw"}AuxiliaryWeights`]: T | undefined;
} & {
  readonly input: T;
  readonly auxiliaryInput: T | undefined;
  readonly timeMajor: boolean;
  /** True if the results of both directions are one output. */
  readonly mergeOutputs: boolean;
};

/** The results: `bwOutput` is absent if the outputs are merged. */
export interface RnnPairOutputs {
  readonly fwOutput: OutputTensor;
  readonly bwOutput: OutputTensor | undefined;
  readonly fwHiddenStateOut: OutputTensor | undefined;
  readonly bwHiddenStateOut: OutputTensor | undefined;
}

/** Arithmetic of the cells. */
export interface RnnPairOptions {
  readonly activate: (sum: number) => number;
  /** Multiplies matrices with vectors. Default: weights are real numbers. */
  readonly product?: Product | undefined;
}

/** The shapes of the results, with every operand's shape checked. */
export function inferRnnPair(args: RnnPair<TensorInfo>) {
  const { input, timeMajor, mergeOutputs } = args;
  const { forward, backward, bwInput, auxiliary } = linkCells(args);
  const { batches } = sequenceOf(input.dimensions, timeMajor);
  const auxiliaries = auxiliary?.dimensions[2];
  const fw = rnnUnits(forward, args.fwHiddenStateIn, batches, input.dimensions[2], auxiliaries);
  const bw = rnnUnits(backward, args.bwHiddenStateIn, batches, bwInput.dimensions[2], auxiliaries);
  return {
    fwOutput: { dimensions: sequenceShape(input.dimensions, fw + (mergeOutputs ? bw : 0)) },
    bwOutput: { dimensions: sequenceShape(input.dimensions, bw) },
    fwHiddenStateOut: { dimensions: [batches, fw] },
    bwHiddenStateOut: { dimensions: [batches, bw] },
  };
}

/** The phases that run both cells. */
export function runRnnPair(args: RnnPair<Tensor>, out: RnnPairOutputs, options: RnnPairOptions): readonly Phase[] {
  const { input, timeMajor, mergeOutputs } = args;
  const { forward, backward, bwInput, auxiliary } = linkCells(args);
  const shared = { ...options, auxiliary, timeMajor };
  const forwards = runRnnSequence({
    ...shared,
    cell: forward,
    input,
    stateIn: args.fwHiddenStateIn,
    output: out.fwOutput,
    stateOut: out.fwHiddenStateOut,
  });
  const backwards = runRnnSequence({
    ...shared,
    cell: backward,
    input: bwInput,
    backwards: true,
    stateIn: args.bwHiddenStateIn,
    output: mergeOutputs ? out.fwOutput : (out.bwOutput ?? out.fwOutput),
    outputOffset: mergeOutputs ? forward.weights.dimensions[0] : 0,
    stateOut: out.bwHiddenStateOut,
  });
  return [...forwards, ...backwards];
}

/** The two cells by the names of one, and the auxiliary input where it belongs. */
function linkCells<T extends TensorInfo>(args: RnnPair<T>) {
  return {
    forward: {
      weights: args.fwWeights,
      recurrentWeights: args.fwRecurrentWeights,
      bias: args.fwBias,
      auxiliaryWeights: args.fwAuxiliaryWeights,
    },
    backward: {
      weights: args.bwWeights,
      recurrentWeights: args.bwRecurrentWeights,
      bias: args.bwBias,
      auxiliaryWeights: args.bwAuxiliaryWeights,
    },
    ...linkAuxiliary(args.input, args.auxiliaryInput, args.fwAuxiliaryWeights, args.bwAuxiliaryWeights),
  };
}
