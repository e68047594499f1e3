/**
 * BIDIRECTIONAL_SEQUENCE_RNN: two basic recurrent cells run along time, one forwards and one backwards, in float, or with 8-bit weights in
 * a float network (hybrid). The auxiliary input serves stacked layers as in the HAL's operation.
 */
import { alternative, defineOperation } from "../define.ts";
import { bool, int32, omittable, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { rnnActivation, rnnProduct, rnnTypes } from "./_rnn.tflite.ts";
import { inferRnnPair, runRnnPair } from "./_rnn-pair.ts";

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
  infer(args) {
    rnnActivation(args.fusedActivationFunction);
    return inferRnnPair(args);
  },
  reference(args, out) {
    const activate = rnnActivation(args.fusedActivationFunction);
    return runRnnPair(args, out, {
      activate,
      product: rnnProduct(args.input, args.fwWeights, args.asymmetricQuantizeInputs),
    });
  },
});
