/**
 * An LSTM cell run along time, forwards or backwards.
 */
import type { Phase } from "../phases.ts";
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

/** The phases that run a cell along time: a unit is a part of a step of a batch. */
export function runLstmSequence(run: LstmSequence): readonly Phase[] {
  const { cell, input, auxiliary, timeMajor, output, outputOffset = 0 } = run;
  const inputs = sequenceOf(input.dimensions, timeMajor);
  const auxiliaries = auxiliary && sequenceOf(auxiliary.dimensions, timeMajor);
  const results = sequenceOf(output.dimensions, timeMajor);
  const sizes = lstmSizes(cell, inputs.size);
  const parts = lstmStep(cell, sizes, run.settings, run.product);
  const { batches, times } = inputs;
  const states = Array.from({ length: batches }, (_, batch) =>
    lstmState(run.outputStateIn, run.cellStateIn, batch, sizes),
  );
  const step = (unit: number) => {
    const part = unit % parts.length;
    const count = Math.floor(unit / parts.length) % times;
    const batch = Math.floor(unit / (parts.length * times));
    const time = run.backwards ? times - 1 - count : count;
    const aux = auxiliary && auxiliaries && { data: auxiliary.data, offset: auxiliaries.offset(time, batch) };
    parts[part]({ data: input.data, offset: inputs.offset(time, batch) }, aux, states[batch]);
    if (part < parts.length - 1) return;
    output.data.set(states[batch].output, results.offset(time, batch) + outputOffset);
  };
  const steps: Phase = {
    units: batches * times * parts.length,
    cost: 4 * (sizes.units + 1) * (sizes.inputs + sizes.outputs + (auxiliaries?.size ?? 0) + 1),
    inTurn: true,
    compute(first, end) {
      for (let unit = first; unit < end; unit++) step(unit);
    },
  };
  const finish = (first: number, end: number) => {
    for (let batch = first; batch < end; batch++) {
      run.outputStateOut?.data.set(states[batch].output, batch * sizes.outputs);
      run.cellStateOut?.data.set(states[batch].cell, batch * sizes.units);
    }
  };
  return [steps, { units: batches, cost: sizes.units + sizes.outputs, compute: finish }];
}
