/**
 * BIDIRECTIONAL_SEQUENCE_RNN: two basic recurrent cells run along time, one forwards and one backwards, in float, or with 8-bit weights in
 * a float network (hybrid). The auxiliary input serves stacked layers as in the HAL's operation.
 */
import {
  alternative,
  bool,
  defineOperation,
  int32,
  linkAuxiliary,
  omittable,
  recurrentWork,
  rnnUnits,
  runRnnSequence,
  sequenceOf,
  sequenceShape,
  tensor,
} from "@nnhal/operations/authoring";
import { rnnActivation, rnnProduct, rnnTypes } from "../_rnn.ts";

const params = [
  tensor("input"),
  tensor("fwWeights"),
  tensor("fwRecurrentWeights"),
  tensor("fwBias"),
  tensor("fwHiddenStateIn"),
  tensor("bwWeights"),
  tensor("bwRecurrentWeights"),
  tensor("bwBias"),
  tensor("bwHiddenStateIn"),
  omittable(tensor("auxiliaryInput")),
  omittable(tensor("fwAuxiliaryWeights")),
  omittable(tensor("bwAuxiliaryWeights")),
  bool("timeMajor"),
  int32("fusedActivationFunction"),
  bool("mergeOutputs"),
  bool("asymmetricQuantizeInputs"),
] as const;

const states = [tensor("fwHiddenStateOut"), tensor("bwHiddenStateOut")] as const;

/** Types of the inputs of an operand list. */
const inputTypes = rnnTypes.map(([float, weights]) => {
  const cell = [weights, weights, float, float] as const;
  return [float, ...cell, ...cell, float, weights, weights] as const;
});

export const bidirectionalSequenceRnn = defineOperation({
  name: "BIDIRECTIONAL_SEQUENCE_RNN",
  code: 1046,
  summary: "Two basic recurrent cells run along time, one forwards and one backwards.",
  params,
  outputs: [tensor("fwOutput"), omittable(tensor("bwOutput")), ...states],
  types: inputTypes.map((types) => ["1.2", ...types, types[0], types[0], types[0], types[0]] as const),
  ranks: { input: 3, auxiliaryInput: 3, fwWeights: 2, bwWeights: 2 },
  work: recurrentWork,
  check: ({ mergeOutputs }) =>
    mergeOutputs === true ? "mergeOutputs is true, but there is an output for the backward direction" : undefined,
  alternatives: [
    alternative({
      params,
      // Merged outputs have no second one.
      outputs: [tensor("fwOutput"), ...states],
      types: inputTypes.map((types) => ["1.2", ...types, types[0], types[0], types[0]] as const),
      normalise: () => ({}),
      check: ({ mergeOutputs }) =>
        mergeOutputs === false ? "mergeOutputs is false, but the backward output is missing" : undefined,
    }),
  ],
  infer({ input, auxiliaryInput, timeMajor, mergeOutputs, fusedActivationFunction, ...args }) {
    const { forward, backward } = cells(args);
    const { bwInput, auxiliary } = linkAuxiliary(
      input,
      auxiliaryInput,
      forward.auxiliaryWeights,
      backward.auxiliaryWeights,
    );
    const { batches } = sequenceOf(input.dimensions, timeMajor);
    const auxiliaries = auxiliary?.dimensions[2];
    const fw = rnnUnits(forward, args.fwHiddenStateIn, batches, input.dimensions[2], auxiliaries);
    const bw = rnnUnits(backward, args.bwHiddenStateIn, batches, bwInput.dimensions[2], auxiliaries);
    rnnActivation(fusedActivationFunction);
    return {
      fwOutput: { dimensions: sequenceShape(input.dimensions, fw + (mergeOutputs ? bw : 0)) },
      bwOutput: { dimensions: sequenceShape(input.dimensions, bw) },
      fwHiddenStateOut: { dimensions: [batches, fw] },
      bwHiddenStateOut: { dimensions: [batches, bw] },
    };
  },
  *reference({ input, auxiliaryInput, timeMajor, mergeOutputs, fusedActivationFunction, ...args }, out) {
    const { forward, backward } = cells(args);
    const { bwInput, auxiliary } = linkAuxiliary(
      input,
      auxiliaryInput,
      forward.auxiliaryWeights,
      backward.auxiliaryWeights,
    );
    const shared = {
      activate: rnnActivation(fusedActivationFunction),
      auxiliary,
      timeMajor,
      product: rnnProduct(input, forward.weights, args.asymmetricQuantizeInputs),
    };
    yield* runRnnSequence({
      ...shared,
      cell: forward,
      input,
      stateIn: args.fwHiddenStateIn,
      output: out.fwOutput,
      stateOut: out.fwHiddenStateOut,
    });
    yield* runRnnSequence({
      ...shared,
      cell: backward,
      input: bwInput,
      backwards: true,
      stateIn: args.bwHiddenStateIn,
      output: mergeOutputs ? out.fwOutput : (out.bwOutput ?? out.fwOutput),
      outputOffset: mergeOutputs ? forward.weights.dimensions[0] : 0,
      stateOut: out.bwHiddenStateOut,
    });
  },
});

/** The two cells by the names of one. */
function cells<T>(
  args: {
    readonly [Name in `${"fw" | "bw"}${"Weights" | "RecurrentWeights" | "Bias"}`]: T;
  } & { readonly [Name in `${"fw" | "bw"}AuxiliaryWeights`]: T | undefined },
) {
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
  };
}
