/**
 * A recurrent cell run along time, forwards or backwards: the step that all recurrent operations share.
 */
import type { Phase } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import type { Slice } from "./_matrix.ts";
import { sequenceOf } from "./_sequence.ts";

/** The sequence that a cell runs along. */
export interface Along {
  /** [times, batches, inputs], or [batches, times, inputs] */
  readonly input: Tensor;
  /** A second input of the same times and batches, for cells with auxiliary weights. */
  readonly auxiliary?: Tensor | undefined;
  readonly timeMajor: boolean;
  /** From the last time to the first. Results stay at the time that they belong to. */
  readonly backwards?: boolean;
  readonly output: OutputTensor;
  /** The offset of the results in each vector of the output; it may be longer than they are. Default: 0. */
  readonly outputOffset?: number;
}

/** Computes a part of one step of one batch: reads the input, changes the state. */
export type StepPart<State> = (input: Slice, auxiliary: Slice | undefined, state: State) => void;

/** A cell, whose state is its own for each batch. */
interface Cell<State> {
  /** The parts of a step, which run one after the other. */
  readonly parts: readonly StepPart<State>[];
  /** Multiplications of a part for each element of the inputs and of the result. */
  readonly units: number;
  stateOf(batch: number): State;
  /** The result of a step. */
  resultOf(state: State): Float64Array;
  /** Stores the state after the last step. */
  finish(state: State, batch: number): void;
}

/** The phases that run a cell along time: a unit is a part of a step of a batch. */
export function runAlongTime<State>(along: Along, cell: Cell<State>): readonly Phase[] {
  const { input, auxiliary, timeMajor, output, outputOffset = 0 } = along;
  const inputs = sequenceOf(input.dimensions, timeMajor);
  const auxiliaries = auxiliary && sequenceOf(auxiliary.dimensions, timeMajor);
  const results = sequenceOf(output.dimensions, timeMajor);
  const { batches, times } = inputs;
  const { parts, units } = cell;
  const states = Array.from({ length: batches }, (_, batch) => cell.stateOf(batch));
  const step = (unit: number) => {
    const part = unit % parts.length;
    const count = Math.floor(unit / parts.length) % times;
    const batch = Math.floor(unit / (parts.length * times));
    const time = along.backwards ? times - 1 - count : count;
    const aux = auxiliary && auxiliaries && { data: auxiliary.data, offset: auxiliaries.offset(time, batch) };
    parts[part]({ data: input.data, offset: inputs.offset(time, batch) }, aux, states[batch]);
    if (part < parts.length - 1) return;
    output.data.set(cell.resultOf(states[batch]), results.offset(time, batch) + outputOffset);
  };
  const steps: Phase = {
    units: batches * times * parts.length,
    cost: 4 * (units + 1) * (inputs.size + results.size + (auxiliaries?.size ?? 0) + 1),
    inTurn: true,
    compute(first, end) {
      for (let unit = first; unit < end; unit++) step(unit);
    },
  };
  const finish = (first: number, end: number) => {
    for (let batch = first; batch < end; batch++) cell.finish(states[batch], batch);
  };
  return [steps, { units: batches, cost: units + results.size, compute: finish }];
}

/** The vector of a batch, from a tensor [batches, size]. */
export function vectorOf({ data }: Tensor, batch: number, size: number): Float64Array {
  return Float64Array.from(data.subarray(batch * size, (batch + 1) * size));
}
