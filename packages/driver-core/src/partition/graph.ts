/**
 * A subgraph as planning sees it: who writes and who reads each operand, and how large operands and operations are.
 */
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperationType,
  operandTypeNames,
  operandTypes,
  type Subgraph,
} from "@nnhal/types";

/** The wiring of a subgraph. */
export interface Wiring {
  /** By operand: the operation that writes it; -1 where none does. */
  readonly writer: Int32Array;
  /** By operation: the operations whose results it reads, each once. */
  readonly producers: readonly (readonly number[])[];
  /** By operation: the operations that read its results, each once. */
  readonly consumers: readonly (readonly number[])[];
}

/** Follows the wires of a subgraph. */
export function wiringOf({ operands, operations }: Subgraph): Wiring {
  const writer = new Int32Array(operands.length).fill(-1);
  operations.forEach(({ outputs }, index) => {
    for (const output of outputs) writer[output] = index;
  });
  const consumers: number[][] = operations.map(() => []);
  const producers = operations.map(({ inputs }, index) => {
    const distinct = new Set<number>();
    for (const input of inputs) if (writer[input] >= 0) distinct.add(writer[input]);
    for (const producer of distinct) consumers[producer].push(index);
    return [...distinct];
  });
  return { writer, producers, consumers };
}

/** Whether the size of an operand is not known before execution. Constants and omitted operands always have a size. */
export function hasUnknownSize({ type, dimensions, lifetime }: Operand): boolean {
  if (lifetime === OperandLifeTime.NO_VALUE || lifetime === OperandLifeTime.SUBGRAPH) return false;
  const name = operandTypeNames.get(type);
  if (name === undefined || operandTypes[name].kind !== "tensor") return false;
  return dimensions.length === 0 || dimensions.includes(0);
}

/** Bytes of an operand; unknown extents count as 1. */
export function bytesOf({ type, dimensions }: Operand): number {
  const name = operandTypeNames.get(type);
  const elementSize = name === undefined ? 1 : operandTypes[name].elementSize;
  return dimensions.reduce((size, extent) => size * Math.max(extent, 1), elementSize);
}

function elementsOf({ dimensions }: Operand): number {
  return dimensions.reduce((count, extent) => count * Math.max(extent, 1), 1);
}

const weighted = new Set<number>([
  OperationType.CONV_2D,
  OperationType.GROUPED_CONV_2D,
  OperationType.FULLY_CONNECTED,
  OperationType.TRANSPOSE_CONV_2D,
]);

/**
 * Multiply-adds of an operation, roughly: for convolutions and matrix products each output takes as many as a filter has
 * weights; a depthwise convolution takes a window; everything else a few for each element that it reads or writes.
 */
export function workOf(subgraph: Subgraph, index: number): number {
  const { type, inputs, outputs } = subgraph.operations[index];
  const operandOf = (operand: number) => subgraph.operands[operand];
  const written = outputs.reduce((sum, output) => sum + elementsOf(operandOf(output)), 0);
  const filter = inputs.length > 1 ? operandOf(inputs[1]) : undefined;
  if (filter !== undefined && weighted.has(type)) {
    return written * (elementsOf(filter) / Math.max(filter.dimensions[0] ?? 1, 1));
  }
  if (filter !== undefined && type === OperationType.DEPTHWISE_CONV_2D) {
    return written * Math.max(filter.dimensions[1] ?? 1, 1) * Math.max(filter.dimensions[2] ?? 1, 1);
  }
  return written + inputs.reduce((sum, input) => sum + elementsOf(operandOf(input)), 0);
}

/** The model whose main subgraph is one of another model's referenced ones. */
export function referencedModel(model: Model, index: number): Model {
  return { ...model, main: model.referenced[index] };
}

/** Whether an operation is an IF or a WHILE. */
export function isControlFlow(type: number): boolean {
  return type === OperationType.IF || type === OperationType.WHILE;
}
