/**
 * The basic recurrent cell: h' = act(W·x + R·h + b), along time.
 */
import type { Phase } from "../phases.ts";
import { ensureShape } from "../shape.ts";
import type { OutputTensor, Tensor, TensorInfo } from "../tensor.ts";
import { type Product, plainProduct } from "./_matrix.ts";
import { type Along, runAlongTime, type StepPart, vectorOf } from "./_time-steps.ts";

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

/** One direction of a sequence operation. */
export interface RnnSequence extends Along {
  readonly cell: RnnCell;
  readonly activate: (sum: number) => number;
  /** [batches, units] */
  readonly stateIn: Tensor;
  readonly stateOut: OutputTensor | undefined;
  /** Multiplies matrices with vectors. Default: weights are real numbers. */
  readonly product?: Product | undefined;
}

/** The phases that run a cell along time. The state is h. */
export function runRnnSequence(run: RnnSequence): readonly Phase[] {
  const { cell, activate, product = plainProduct } = run;
  const [units] = cell.weights.dimensions;
  /** h' = act(W·x + R·h + b) */
  const step: StepPart<Float64Array> = (x, aux, state) => {
    const sums = Float64Array.from(cell.bias.data);
    product(sums, cell.weights, x.data, x.offset);
    if (aux !== undefined && cell.auxiliaryWeights !== undefined) {
      product(sums, cell.auxiliaryWeights, aux.data, aux.offset);
    }
    product(sums, cell.recurrentWeights, state, 0);
    for (let unit = 0; unit < units; unit++) state[unit] = activate(sums[unit]);
  };
  return runAlongTime(run, {
    parts: [step],
    units,
    stateOf: (batch) => vectorOf(run.stateIn, batch, units),
    resultOf: (state) => state,
    finish: (state, batch) => run.stateOut?.data.set(state, batch * units),
  });
}
