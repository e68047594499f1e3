/**
 * An LSTM cell run along time.
 */
import type { Phase } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { type LstmCell, type LstmSettings, lstmSizes } from "./_lstm.ts";
import { type LstmState, lstmStep } from "./_lstm-step.ts";
import type { Product } from "./_matrix.ts";
import { type Along, runAlongTime, vectorOf } from "./_time-steps.ts";

/** One direction of a sequence operation. */
export interface LstmSequence extends Along {
  readonly cell: LstmCell;
  readonly settings: LstmSettings;
  readonly outputStateIn: Tensor;
  readonly cellStateIn: Tensor;
  readonly outputStateOut: OutputTensor | undefined;
  readonly cellStateOut: OutputTensor | undefined;
  /** Multiplies matrices with vectors. Default: weights are real numbers. */
  readonly product?: Product | undefined;
}

/** The phases that run a cell along time. */
export function runLstmSequence(run: LstmSequence): readonly Phase[] {
  const sizes = lstmSizes(run.cell, run.input.dimensions[2]);
  const { units, outputs } = sizes;
  return runAlongTime<LstmState>(run, {
    parts: lstmStep(run.cell, sizes, run.settings, run.product),
    units,
    stateOf: (batch) => ({
      output: vectorOf(run.outputStateIn, batch, outputs),
      cell: vectorOf(run.cellStateIn, batch, units),
    }),
    resultOf: ({ output }) => output,
    finish({ output, cell }, batch) {
      run.outputStateOut?.data.set(output, batch * outputs);
      run.cellStateOut?.data.set(cell, batch * units);
    },
  });
}
