/** The shared parts of recurrent cells: products with weights, steps that repeat along time, and the vectors of one time. */
import type { KernelTensor } from "@nnhal/backend";
import { stridesOf } from "@nnhal/operations";
import { sequenceOf } from "@nnhal/operations/compiling";
import { addMove, type Builder, operandOf, type Value } from "./builder.ts";
import { rowsOf } from "./convolution.ts";
import { accumulator } from "./expression.ts";
import { calc, integer } from "./formula.ts";
import { fillTile } from "./lowering.ts";
import type { Region } from "./plan.ts";
import { addRoutine } from "./routine.ts";
import { addRows } from "./weighted.ts";

/** Adds rows [rows, depth] times weights [columns, depth], plus a bias. */
export function addFloatProduct(
  builder: Builder,
  name: string,
  source: Value,
  filter: KernelTensor,
  bias: KernelTensor | undefined,
): Value {
  const [columns = 0, depth = 1] = filter.dimensions;
  const rows = source.dimensions.reduce((product, extent) => product * extent, 1) / Math.max(1, depth);
  const target = builder.value("f32", [rows, columns]);
  const list =
    bias === undefined ? builder.constant(fillTile(new Array<number>(columns).fill(0))) : builder.read(bias).region;
  const weights = { filter, depth, columns, depthStep: 1, columnStep: depth };
  const from = { ...rowsOf(source, rows, depth), zeroPoint: 0 };
  addRows(builder, name, weights, rows, from, target, list, accumulator("f32"));
  return target;
}

/** A copy of a tensor that steps may change. */
export function copyOf(builder: Builder, tensor: KernelTensor): Value {
  const value = builder.read(tensor);
  const copy = builder.value(value.type, tensor.dimensions);
  const strides = stridesOf(tensor.dimensions);
  addMove(builder, "state", tensor.dimensions, operandOf(value, strides), operandOf(copy, strides));
  return copy;
}

/** The times of a sequence, and the place of each of its vectors. */
export interface Times {
  readonly times: number;
  readonly batches: number;
  readonly timeMajor: boolean;
  readonly backwards: boolean;
  /** The number of the turn, one i32. */
  readonly turn: Value;
}

/**
 * Adds steps that are computed for each time of a sequence, in order. `states`: regions that a turn leaves to the next one, or to what comes after; all else that the
 * steps write is needed within a turn only.
 */
export function addTimes(
  builder: Builder,
  name: string,
  { dimensions }: { readonly dimensions: readonly number[] },
  timeMajor: boolean,
  backwards: boolean,
  states: readonly Region[],
  body: (times: Times) => void,
): void {
  const { times, batches } = sequenceOf(dimensions, timeMajor);
  if (times === 1) {
    const turn: Value = { region: builder.constant(Int32Array.of(0)), type: "i32", dimensions: [1] };
    body({ times, batches, timeMajor, backwards, turn });
    return;
  }
  const turn = builder.value("i32", [1]);
  const parts = builder.apart(() => body({ times, batches, timeMajor, backwards, turn }), new Set(states));
  const work = parts.reduce((sum, step) => sum + step.units * step.work, 0);
  builder.add({ kind: "repeat", name, turn: turn.region, steps: parts, units: times, work });
}

/** Adds a routine that copies the vectors of the time of this turn, one of each batch, from or to a sequence. */
function addCopies(
  builder: Builder,
  name: string,
  { times, batches, timeMajor, backwards, turn }: Times,
  sequence: Value,
  size: number,
  vectors: Value,
  offset: number,
  isTaken: boolean,
): void {
  const [, , stride = 1] = sequence.dimensions;
  addRoutine(builder, name, batches, 2 + size / 8, (routine) => {
    const turns = routine.read(turn);
    const from = routine.read(isTaken ? sequence : vectors);
    const to = routine.write(isTaken ? vectors : sequence);
    const count = turns.at(0);
    const time = routine.local(backwards ? calc("sub", times - 1, count) : count);
    const place = timeMajor
      ? calc("add", calc("mul", time, batches), routine.unit)
      : calc("add", calc("mul", routine.unit, times), time);
    const inSequence = calc("add", calc("mul", place, stride), offset);
    const inVectors = calc("mul", routine.unit, size);
    if (isTaken) routine.copy(from, inSequence, to, inVectors, integer(size));
    else routine.copy(from, inVectors, to, inSequence, integer(size));
  });
}

/** The vectors of this turn's time from a sequence [times, batches, size], or [batches, times, size]. */
export function takeTime(builder: Builder, name: string, times: Times, sequence: Value): Value {
  const [, , size = 1] = sequence.dimensions;
  const vectors = builder.value(sequence.type, [times.batches, size]);
  addCopies(builder, name, times, sequence, size, vectors, 0, true);
  return vectors;
}

/** Writes the vectors of this turn's time to a sequence, from some place of its vectors on. */
export function putInto(
  builder: Builder,
  name: string,
  times: Times,
  vectors: Value,
  sequence: Value,
  offset: number,
): void {
  const [, size = 1] = vectors.dimensions;
  addCopies(builder, name, times, sequence, size, vectors, offset, false);
}
