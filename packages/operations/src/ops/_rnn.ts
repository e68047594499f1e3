/**
 * The basic recurrent cell: h' = act(W·x + R·h + b), along time.
 */
import { ensureShape } from "../shape.ts";
import type { OutputTensor, Tensor, TensorInfo } from "../tensor.ts";
import { type Product, plainProduct, type Slice } from "./_matrix.ts";
import { sequenceOf } from "./_sequence.ts";

/** The operands of a cell. */
export interface RnnCell<T extends TensorInfo = Tensor> {
  /** [units, inputs] */
  readonly weights: T;
  /** [units, units] */
  readonly recurrentWeights: T;
  /** [units] */
  readonly bias: T;
  /** [units, auxiliary inputs] */
  readonly auxiliaryWeights?: T | undefined;
}

/** The number of units of a cell, with every operand's shape checked. */
export function rnnUnits(
  cell: RnnCell<TensorInfo>,
  state: TensorInfo,
  batches: number,
  inputs: number,
  auxiliaries?: number,
): number {
  const [units] = cell.weights.dimensions;
  ensureShape("the weights", cell.weights, [units, inputs]);
  ensureShape("the recurrent weights", cell.recurrentWeights, [units, units]);
  ensureShape("the bias", cell.bias, [units]);
  ensureShape("the hidden states", state, [batches, units]);
  if (auxiliaries !== undefined) ensureShape("the auxiliary weights", cell.auxiliaryWeights, [units, auxiliaries]);
  return units;
}

/** Computes one step of one batch: reads the input, changes the state. */
export function rnnStep(
  cell: RnnCell,
  activate: (sum: number) => number,
  product: Product = plainProduct,
): (input: Slice, auxiliary: Slice | undefined, state: Float64Array) => Generator<void, void> {
  const [units] = cell.weights.dimensions;
  const sums = new Float64Array(units);
  return function* (x, aux, state) {
    sums.set(cell.bias.data);
    yield* product(sums, cell.weights, x.data, x.offset);
    if (aux !== undefined && cell.auxiliaryWeights !== undefined) {
      yield* product(sums, cell.auxiliaryWeights, aux.data, aux.offset);
    }
    yield* product(sums, cell.recurrentWeights, state, 0);
    for (let unit = 0; unit < units; unit++) state[unit] = activate(sums[unit]);
  };
}

/** One direction of a sequence operation. */
export interface RnnSequence {
  readonly cell: RnnCell;
  readonly activate: (sum: number) => number;
  readonly input: Tensor;
  readonly auxiliary?: Tensor | undefined;
  readonly timeMajor: boolean;
  readonly backwards?: boolean;
  /** [batches, units] */
  readonly stateIn: Tensor;
  readonly output: OutputTensor;
  /** The offset of the results in each vector of the output. Default: 0. */
  readonly outputOffset?: number;
  readonly stateOut: OutputTensor | undefined;
  /** Multiplies matrices with vectors. Default: weights are real numbers. */
  readonly product?: Product | undefined;
}

/** Runs a cell along time, pausing after each step of each batch. */
export function* runRnnSequence(run: RnnSequence): Generator<void, void> {
  const { cell, input, auxiliary, timeMajor, stateIn, output, outputOffset = 0 } = run;
  const inputs = sequenceOf(input.dimensions, timeMajor);
  const auxiliaries = auxiliary && sequenceOf(auxiliary.dimensions, timeMajor);
  const results = sequenceOf(output.dimensions, timeMajor);
  const [units] = cell.weights.dimensions;
  const step = rnnStep(cell, run.activate, run.product);
  for (let batch = 0; batch < inputs.batches; batch++) {
    const state = Float64Array.from(stateIn.data.subarray(batch * units, (batch + 1) * units));
    for (let count = 0; count < inputs.times; count++) {
      const time = run.backwards ? inputs.times - 1 - count : count;
      const aux = auxiliary && auxiliaries && { data: auxiliary.data, offset: auxiliaries.offset(time, batch) };
      yield* step({ data: input.data, offset: inputs.offset(time, batch) }, aux, state);
      output.data.set(state, results.offset(time, batch) + outputOffset);
      yield;
    }
    run.stateOut?.data.set(state, batch * units);
  }
}
