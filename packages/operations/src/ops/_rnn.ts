/**
 * The basic recurrent cell: h' = act(W·x + R·h + b), along time.
 */
import type { Phase } from "../phases.ts";
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

/** Computes one step of one batch, h' = act(W·x + R·h + b): reads the input, changes the state. */
function rnnStep(
  cell: RnnCell,
  activate: (sum: number) => number,
  product: Product,
  x: Slice,
  aux: Slice | undefined,
  state: Float64Array,
): void {
  const sums = Float64Array.from(cell.bias.data);
  product(sums, cell.weights, x.data, x.offset);
  if (aux !== undefined && cell.auxiliaryWeights !== undefined) {
    product(sums, cell.auxiliaryWeights, aux.data, aux.offset);
  }
  product(sums, cell.recurrentWeights, state, 0);
  for (let unit = 0; unit < state.length; unit++) state[unit] = activate(sums[unit]);
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

/** The phases that run a cell along time: a unit is a step of a batch. */
export function runRnnSequence(run: RnnSequence): readonly Phase[] {
  const {
    cell,
    activate,
    input,
    auxiliary,
    timeMajor,
    stateIn,
    output,
    outputOffset = 0,
    product = plainProduct,
  } = run;
  const inputs = sequenceOf(input.dimensions, timeMajor);
  const auxiliaries = auxiliary && sequenceOf(auxiliary.dimensions, timeMajor);
  const results = sequenceOf(output.dimensions, timeMajor);
  const [units] = cell.weights.dimensions;
  const { batches, times } = inputs;
  const states = Array.from({ length: batches }, (_, batch) =>
    Float64Array.from(stateIn.data.subarray(batch * units, (batch + 1) * units)),
  );
  const steps: Phase = {
    units: batches * times,
    cost: 4 * (units + 1) * (inputs.size + units + (auxiliaries?.size ?? 0) + 1),
    inTurn: true,
    compute(first, end) {
      for (let unit = first; unit < end; unit++) {
        const [batch, count] = [Math.floor(unit / times), unit % times];
        const time = run.backwards ? times - 1 - count : count;
        const x = { data: input.data, offset: inputs.offset(time, batch) };
        const aux = auxiliary && auxiliaries && { data: auxiliary.data, offset: auxiliaries.offset(time, batch) };
        rnnStep(cell, activate, product, x, aux, states[batch]);
        output.data.set(states[batch], results.offset(time, batch) + outputOffset);
      }
    },
  };
  const finish = (first: number, end: number) => {
    for (let batch = first; batch < end; batch++) run.stateOut?.data.set(states[batch], batch * units);
  };
  return [steps, { units: batches, cost: units, compute: finish }];
}
