/** RNN, its sequence forms, and SVDF. */
import { type KernelTensor, optionalTensor, requiredTensor, type TensorArgs } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { integers, reshape, type Value } from "../graph/builder.ts";
import type { Lowered, Scope } from "../graph/scope.ts";
import { applyActivation } from "./_lowering.ts";
import { alongTime, type CellStep, combine, ensureFloat, joinValues, linkAuxiliary, product } from "./_sequence.ts";

interface Cell {
  readonly weights: KernelTensor;
  readonly recurrentWeights: KernelTensor;
  readonly bias: KernelTensor;
}

/** h' = act(contribution + R·h + b) */
function stepOf({ builder, read }: Scope, { recurrentWeights, bias }: Cell, activation: number): CellStep {
  return (contribution, states) => {
    const recurrent = product(builder, elementAt(states, 0), read(recurrentWeights), read(bias));
    return [applyActivation(builder, combine(builder, "Add", contribution, recurrent), activation)];
  };
}

interface Rnn extends Cell {
  readonly input: KernelTensor;
  readonly hiddenStateIn: KernelTensor;
  readonly activation: number;
}

export function rnn(args: Rnn, _: unknown, scope: Scope): Lowered[] {
  const { input, weights, hiddenStateIn, activation } = args;
  ensureFloat(input);
  const { builder, read } = scope;
  const contribution = product(builder, read(input), read(weights));
  const state = elementAt(stepOf(scope, args, activation)(contribution, [read(hiddenStateIn)]), 0);
  return [state, state];
}

export function unidirectionalSequenceRnn(
  args: Rnn & { readonly timeMajor: number },
  _: unknown,
  scope: Scope,
): Lowered[] {
  const { input, weights, hiddenStateIn, activation } = args;
  const { outputs, states } = alongTime(
    scope,
    [[input, scope.read(weights)]],
    [scope.read(hiddenStateIn)],
    stepOf(scope, args, activation),
    { timeMajor: args.timeMajor !== 0 },
  );
  return [outputs, ...states];
}

interface Bidirectional {
  readonly input: KernelTensor;
  readonly auxiliaryInput: KernelTensor | undefined;
  readonly activation: number;
  readonly timeMajor: boolean;
  readonly mergeOutputs: boolean;
}

export function bidirectionalSequenceRnn(args: Bidirectional & TensorArgs, _: unknown, scope: Scope): Lowered[] {
  const { input, auxiliaryInput, activation, timeMajor, mergeOutputs } = args;
  const { builder, read } = scope;
  const linked = linkAuxiliary(input, auxiliaryInput, optionalTensor(args, "fwAuxiliaryWeights") !== undefined);
  const run = (prefix: string, seen: KernelTensor, backwards: boolean) => {
    const cell: Cell = {
      weights: requiredTensor(args, `${prefix}Weights`),
      recurrentWeights: requiredTensor(args, `${prefix}RecurrentWeights`),
      bias: requiredTensor(args, `${prefix}Bias`),
    };
    const parts: [KernelTensor, Value][] = [[seen, read(cell.weights)]];
    const extra = optionalTensor(args, `${prefix}AuxiliaryWeights`);
    if (linked.auxiliary !== undefined && extra !== undefined) parts.push([linked.auxiliary, read(extra)]);
    const state = read(requiredTensor(args, `${prefix}HiddenStateIn`));
    return alongTime(scope, parts, [state], stepOf(scope, cell, activation), { timeMajor, backwards });
  };
  const fw = run("fw", input, false);
  const bw = run("bw", linked.bwInput, true);
  const outputs = mergeOutputs ? [joinValues(builder, [fw.outputs, bw.outputs], 2)] : [fw.outputs, bw.outputs];
  return [...outputs, ...fw.states, ...bw.states];
}

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
export function svdf(args: Svdf, _: unknown, scope: Scope): Lowered[] {
  const { input, featureWeights, timeWeights, bias, stateIn, rank, activation } = args;
  ensureFloat(input);
  const { builder, read } = scope;
  const batches = elementAt(input.dimensions, 0);
  const [filters = 0, memory = 0] = timeWeights.dimensions;
  const part = (value: Value, start: number) => {
    const bounds = [start, start + memory - 1, 2].map((bound) => integers(builder, [bound]));
    return builder.node("Slice", [value, ...bounds], { type: "float32", dims: [batches, filters, memory - 1] });
  };
  const features = reshape(builder, product(builder, read(input), read(featureWeights)), [batches, filters, 1]);
  const before = reshape(builder, read(stateIn), [batches, filters, memory]);
  const state = joinValues(builder, [part(before, 0), features], 2);
  const weighted = combine(builder, "Mul", state, reshape(builder, read(timeWeights), [1, filters, memory]));
  const units = reshape(builder, weighted, [batches, filters / rank, rank * memory]);
  const result = { type: "float32", dims: [batches, filters / rank] } as const;
  const attributes = { keepdims: { int: 0 } };
  const sums = builder.node("ReduceSum", [units, integers(builder, [2])], result, { attributes });
  const zeros = builder.constant("float32", [batches, filters, 1], () => new Float32Array(batches * filters));
  const moved = joinValues(builder, [part(state, 1), zeros], 2);
  const biased = bias === undefined ? sums : combine(builder, "Add", sums, read(bias));
  return [reshape(builder, moved, [batches, filters * memory]), applyActivation(builder, biased, activation)];
}
