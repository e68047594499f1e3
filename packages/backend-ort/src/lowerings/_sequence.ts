/** Sequences along time, and what recurrent cells share. */
import type { KernelTensor } from "@nnhal/backend";
import { elementAt, elementCount, isFloat } from "@nnhal/operations";
import { type Builder, integers, reshape, transpose, type Value } from "../graph/builder.ts";
import { refuse, type Scope } from "../graph/scope.ts";
import type { Attribute } from "../onnx/write.ts";
import { broadcastDims, typeName } from "./_lowering.ts";

/** One step of a cell: from the contributions of the inputs and the states before to the states after. */
export type CellStep = (contribution: Value, states: readonly Value[]) => readonly Value[];

/** Refuses cells that are not of floats. */
export function ensureFloat(input: KernelTensor): void {
  if (!isFloat(input.type)) refuse(`${typeName(input)} is not available`);
}

/** The result of an operator on real numbers that broadcast. */
export function combine(builder: Builder, operator: string, ...values: readonly Value[]): Value {
  return builder.node(operator, values, { type: "float32", dims: broadcastDims(values) });
}

/** Rows multiplied by the transposed weights [units, inputs], plus a bias. */
export function product(builder: Builder, rows: Value, weights: Value, bias?: Value): Value {
  const dims = [elementAt(rows.dims, 0), elementAt(weights.dims, 0)];
  const attributes = { transB: { int: 1 } };
  const inputs = bias === undefined ? [rows, weights] : [rows, weights, bias];
  return builder.node("Gemm", inputs, { type: "float32", dims }, { attributes });
}

/** Values joined along an axis. */
export function joinValues(builder: Builder, values: readonly Value[], axis: number): Value {
  const first = elementAt(values, 0);
  if (values.length === 1) return first;
  const sum = values.reduce((extent, { dims }) => extent + elementAt(dims, axis), 0);
  const dims = first.dims.map((extent, at) => (at === axis ? sum : extent));
  return builder.node("Concat", values, { type: first.type, dims }, { attributes: { axis: { int: axis } } });
}

/** A value divided into equal parts along an axis. */
export function divideEqually(builder: Builder, value: Value, count: number, axis: number): readonly Value[] {
  if (count === 1) return [value];
  const extent = elementAt(value.dims, axis) / count;
  const dims = value.dims.map((all, at) => (at === axis ? extent : all));
  const sizes = integers(
    builder,
    Array.from({ length: count }, () => extent),
  );
  const attributes: Readonly<Record<string, Attribute>> = { axis: { int: axis } };
  const results = Array.from({ length: count }, () => ({ type: value.type, dims }));
  return builder.nodes("Split", [value, sizes], results, { attributes });
}

/** The most points in time: a cell is added to the graph for each. */
const mostTimes = 128;

/** The layout of a sequence, and the direction in which a cell traverses it. */
export interface SequenceOrder {
  readonly timeMajor: boolean;
  readonly backwards?: boolean;
}

/**
 * Runs a cell along time. `parts` are sequences with the weights of their contributions to the gates. Returns the first state at all
 * times, in the order of the input, and all final states.
 */
export function alongTime(
  { builder, read }: Scope,
  parts: readonly (readonly [sequence: KernelTensor, weights: Value])[],
  initial: readonly Value[],
  step: CellStep,
  { timeMajor, backwards = false }: SequenceOrder,
): { readonly outputs: Value; readonly states: readonly Value[] } {
  const contributions = parts.map(([sequence, weights]) => {
    ensureFloat(sequence);
    const value = timeMajor ? read(sequence) : transpose(builder, read(sequence), [1, 0, 2]);
    const size = elementAt(value.dims, 2);
    const rows = reshape(builder, value, [elementCount(value.dims) / size, size]);
    return { times: elementAt(value.dims, 0), sums: product(builder, rows, weights) };
  });
  const { times } = elementAt(contributions, 0);
  if (times > mostTimes) refuse(`${times} points in time are too many; at most ${mostTimes} are available`);
  const sums = contributions.map((each) => each.sums).reduce((sum, each) => combine(builder, "Add", sum, each));
  const points = [...divideEqually(builder, sums, times, 0)];
  if (backwards) points.reverse();
  let states = initial;
  const outputs = points.map((contribution) => {
    states = step(contribution, states);
    return elementAt(states, 0);
  });
  if (backwards) outputs.reverse();
  const [batches = 0, units = 0] = elementAt(outputs, 0).dims;
  const all = reshape(builder, joinValues(builder, outputs, 0), [times, batches, units]);
  return { outputs: timeMajor ? all : transpose(builder, all, [1, 0, 2]), states };
}

/** The input of the backward cell and the auxiliary input of both cells, by the rule of the HAL. */
export function linkAuxiliary(
  input: KernelTensor,
  auxiliaryInput: KernelTensor | undefined,
  hasAuxiliaryWeights: boolean,
): { readonly bwInput: KernelTensor; readonly auxiliary: KernelTensor | undefined } {
  if (auxiliaryInput === undefined) return { bwInput: input, auxiliary: undefined };
  if (hasAuxiliaryWeights) return { bwInput: input, auxiliary: auxiliaryInput };
  return { bwInput: auxiliaryInput, auxiliary: undefined };
}
