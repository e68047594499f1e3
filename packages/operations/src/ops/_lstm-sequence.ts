/**
 * An LSTM cell run along time, forwards or backwards.
 */
import type { OutputTensor, Tensor } from "../tensor.ts";
import { type LstmCell, type LstmSettings, lstmSizes, lstmState, lstmStep } from "./_lstm.ts";
import type { Product } from "./_matrix.ts";
import { sequenceOf } from "./_sequence.ts";

/** One direction of a sequence operation. */
export interface LstmSequence {
  readonly cell: LstmCell;
  readonly settings: LstmSettings;
  /** [times, batches, inputs], or [batches, times, inputs] */
  readonly input: Tensor;
  /** A second input of the same times and batches, for cells with auxiliary weights. */
  readonly auxiliary?: Tensor | undefined;
  readonly timeMajor: boolean;
  /** From the last time to the first. Results stay at the time that they belong to. */
  readonly backwards?: boolean;
  readonly outputStateIn: Tensor;
  readonly cellStateIn: Tensor;
  readonly output: OutputTensor;
  /** The offset of the results in each vector of the output; it may be longer than they are. Default: 0. */
  readonly outputOffset?: number;
  readonly outputStateOut: OutputTensor | undefined;
  readonly cellStateOut: OutputTensor | undefined;
  /** Multiplies matrices with vectors. Default: weights are real numbers. */
  readonly product?: Product | undefined;
}

/** Runs a cell along time, pausing after each step of each batch. */
export function* runLstmSequence(run: LstmSequence): Generator<void, void> {
  const { cell, input, auxiliary, timeMajor, output, outputOffset = 0 } = run;
  const inputs = sequenceOf(input.dimensions, timeMajor);
  const auxiliaries = auxiliary && sequenceOf(auxiliary.dimensions, timeMajor);
  const results = sequenceOf(output.dimensions, timeMajor);
  const sizes = lstmSizes(cell, inputs.size);
  const step = lstmStep(cell, sizes, run.settings, run.product);
  for (let batch = 0; batch < inputs.batches; batch++) {
    const state = lstmState(run.outputStateIn, run.cellStateIn, batch, sizes);
    for (let count = 0; count < inputs.times; count++) {
      const time = run.backwards ? inputs.times - 1 - count : count;
      const aux = auxiliary && auxiliaries && { data: auxiliary.data, offset: auxiliaries.offset(time, batch) };
      yield* step({ data: input.data, offset: inputs.offset(time, batch) }, aux, state);
      output.data.set(state.output, results.offset(time, batch) + outputOffset);
      yield;
    }
    run.outputStateOut?.data.set(state.output, batch * sizes.outputs);
    run.cellStateOut?.data.set(state.cell, batch * sizes.units);
  }
}
