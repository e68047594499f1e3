/** Basic recurrent cells along time, and SVDF. */
import type { KernelTensor } from "@nnhal/backend";
import { activationRange, elementCount, stridesOf } from "@nnhal/operations";
import { addElementwise, addMove, type Builder, operandOf, outputOf, type Value } from "./builder.ts";
import { accumulator, element, on, real, within } from "./expression.ts";
import type { LoweringTable } from "./lowering.ts";
import { addFloatProduct, addTimes, copyOf, putInto, takeTime } from "./recurrent.ts";
import { addReduction } from "./reduction.ts";

/** One direction of a sequence of a basic cell. */
interface Run {
  readonly name: string;
  /** [times, batches, inputs], or [batches, times, inputs] */
  readonly input: KernelTensor;
  readonly auxiliary?: KernelTensor | undefined;
  readonly weights: KernelTensor;
  readonly recurrentWeights: KernelTensor;
  readonly auxiliaryWeights?: KernelTensor | undefined;
  readonly bias: KernelTensor;
  readonly stateIn: KernelTensor;
  readonly activation: number;
  readonly timeMajor: boolean;
  readonly backwards: boolean;
  readonly output: Value;
  readonly outputOffset: number;
}

/** Adds h' = act(W·x + R·h + b) for each time. Returns the last state. */
function addRun(builder: Builder, run: Run): Value {
  const { name, input, auxiliary, auxiliaryWeights, timeMajor } = run;
  const [units = 1] = run.weights.dimensions;
  const shape = [input.dimensions[0] ?? 1, input.dimensions[1] ?? 1, units];
  const [x, other] = [element(0, "f32"), element(1, "f32")];
  // One product computes the share of the inputs for all time steps.
  let sums = addFloatProduct(builder, name, builder.read(input), run.weights, run.bias);
  if (auxiliary !== undefined && auxiliaryWeights !== undefined) {
    const more = addFloatProduct(builder, name, builder.read(auxiliary), auxiliaryWeights, undefined);
    const both = builder.value("f32", sums.dimensions);
    addElementwise(builder, name, [sums, more], both, on("add", x, other));
    sums = both;
  }
  const state = copyOf(builder, run.stateIn);
  const states = [state.region, run.output.region];
  addTimes(builder, name, input, timeMajor, run.backwards, states, (times) => {
    const now = takeTime(builder, name, times, { ...sums, dimensions: shape });
    const recurrent = addFloatProduct(builder, name, state, run.recurrentWeights, undefined);
    const value = within(on("add", x, other), ...activationRange(run.activation));
    addElementwise(builder, name, [now, recurrent], state, value);
    putInto(builder, name, times, state, run.output, run.outputOffset);
  });
  return state;
}

/** The lowerings. */
export const rnns: LoweringTable = {
  RNN({ input, hiddenStateIn, ...cell }, { output }, builder) {
    const shape = (dimensions: readonly number[]) => [1, dimensions[0] ?? 1, dimensions[1] ?? 1];
    const target = { ...outputOf(builder, output), dimensions: shape(output.dimensions) };
    const state = addRun(builder, {
      ...cell,
      name: "RNN",
      input: { ...input, dimensions: shape(input.dimensions) },
      stateIn: hiddenStateIn,
      timeMajor: true,
      backwards: false,
      output: target,
      outputOffset: 0,
    });
    return [state, { ...target, dimensions: output.dimensions }];
  },
  UNIDIRECTIONAL_SEQUENCE_RNN({ input, hiddenStateIn, timeMajor, ...cell }, outputs, builder) {
    const output = outputOf(builder, outputs.output);
    const state = addRun(builder, {
      ...cell,
      name: "UNIDIRECTIONAL_SEQUENCE_RNN",
      input,
      stateIn: hiddenStateIn,
      timeMajor: timeMajor === 1,
      backwards: false,
      output,
      outputOffset: 0,
    });
    return [output, state];
  },
  BIDIRECTIONAL_SEQUENCE_RNN(args, outputs, builder) {
    const { input, auxiliaryInput, fwAuxiliaryWeights, bwAuxiliaryWeights, mergeOutputs, timeMajor, activation } = args;
    const shared = { name: "BIDIRECTIONAL_SEQUENCE_RNN", activation, timeMajor };
    // Without auxiliary weights the backward cell reads the auxiliary input instead of the input.
    const isParallel = fwAuxiliaryWeights === undefined;
    const auxiliary = isParallel ? undefined : auxiliaryInput;
    const forward = outputOf(builder, outputs.fwOutput);
    const separate = outputs.bwOutput;
    const backward = mergeOutputs || separate === undefined ? forward : outputOf(builder, separate);
    const forwardState = addRun(builder, {
      ...shared,
      input,
      auxiliary,
      weights: args.fwWeights,
      recurrentWeights: args.fwRecurrentWeights,
      auxiliaryWeights: fwAuxiliaryWeights,
      bias: args.fwBias,
      stateIn: args.fwHiddenStateIn,
      backwards: false,
      output: forward,
      outputOffset: 0,
    });
    const backwardState = addRun(builder, {
      ...shared,
      input: isParallel && auxiliaryInput !== undefined ? auxiliaryInput : input,
      auxiliary,
      weights: args.bwWeights,
      recurrentWeights: args.bwRecurrentWeights,
      auxiliaryWeights: bwAuxiliaryWeights,
      bias: args.bwBias,
      stateIn: args.bwHiddenStateIn,
      backwards: true,
      output: backward,
      outputOffset: mergeOutputs ? (args.fwWeights.dimensions[0] ?? 0) : 0,
    });
    return [...(mergeOutputs ? [forward] : [forward, backward]), forwardState, backwardState];
  },
  SVDF({ input, featureWeights, timeWeights, bias, stateIn, rank, activation }, outputs, builder) {
    const [batches = 1] = input.dimensions;
    const [filters = 1, memory = 1] = timeWeights.dimensions;
    const units = filters / rank;
    const features = addFloatProduct(builder, "SVDF", builder.read(input), featureWeights, undefined);
    // The state with the new features in the last column of each filter.
    const state = copyOf(builder, stateIn);
    const ones = operandOf(features, [1]);
    addMove(builder, "SVDF", [batches * filters], ones, operandOf(state, [memory], memory - 1));
    const weighted = builder.value("f32", [batches, filters, memory]);
    const [x, other] = [element(0, "f32"), element(1, "f32")];
    const shaped = { ...state, dimensions: weighted.dimensions };
    addElementwise(builder, "SVDF", [shaped, builder.read(timeWeights)], weighted, on("mul", x, other));
    const sums = builder.value("f32", [batches, units]);
    const rows = { ...weighted, dimensions: [batches, units, rank * memory] };
    addReduction(builder, "SVDF", rows, [false, false, true], sums, {
      combine: "add",
      start: real(0),
      taken: x,
      value: accumulator("f32"),
    });
    const output = outputOf(builder, outputs.output);
    const sum = bias === undefined ? x : on("add", x, other);
    const operands = bias === undefined ? [sums] : [sums, builder.read(bias)];
    addElementwise(builder, "SVDF", operands, output, within(sum, ...activationRange(activation)));
    // Each filter's columns move by one, and the last is 0.
    const next = builder.value("f32", outputs.stateOut.dimensions);
    addElementwise(builder, "SVDF", [], { ...next, dimensions: [elementCount(next.dimensions)] }, real(0), 1);
    const shape = [batches * filters, memory - 1];
    const strides = stridesOf([batches * filters, memory]);
    if (memory > 1) addMove(builder, "SVDF", shape, operandOf(state, strides, 1), operandOf(next, strides));
    return [next, output];
  },
};
