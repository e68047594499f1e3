/** A subgraph as planning sees it: the writer and the readers of each operand, and the size of operands. */
import { byteSize, elementAt, isUnspecified } from "@nnhal/operations";
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
  /** By operand: the operation that writes it; -1 if none does. */
  readonly writer: Int32Array;
  /** By operation: the operations whose results it reads, each once. */
  readonly producers: readonly (readonly number[])[];
  /** By operation: the operations that read its results, each once. */
  readonly consumers: readonly (readonly number[])[];
}

/** Computes the wiring of a subgraph. */
export function wiringOf({ operands, operations }: Subgraph): Wiring {
  const writer = new Int32Array(operands.length).fill(-1);
  operations.forEach(({ outputs }, index) => {
    for (const output of outputs) writer[output] = index;
  });
  const consumers: number[][] = operations.map(() => []);
  const producers = operations.map(({ inputs }, index) => {
    const distinct = new Set<number>();
    for (const input of inputs) if (elementAt(writer, input) >= 0) distinct.add(elementAt(writer, input));
    for (const producer of distinct) elementAt(consumers, producer).push(index);
    return [...distinct];
  });
  return { writer, producers, consumers };
}

/** Whether the size of an operand is not known before execution. Constants and omitted operands always have a size. */
export function hasUnknownSize({ type, dimensions, lifetime }: Operand): boolean {
  if (lifetime === OperandLifeTime.NO_VALUE || lifetime === OperandLifeTime.SUBGRAPH) return false;
  const name = operandTypeNames.get(type);
  return name !== undefined && isUnspecified(operandTypes[name], dimensions);
}

/** Bytes of an operand; unknown extents count as 1. */
export function bytesOf({ type, dimensions }: Operand): number {
  const name = operandTypeNames.get(type);
  const known = dimensions.map((extent) => Math.max(extent, 1));
  return byteSize(name === undefined ? { kind: "tensor", elementSize: 1 } : operandTypes[name], known);
}

/** The model whose main subgraph is one of another model's referenced ones. */
export function referencedModel(model: Model, index: number): Model {
  return modelWith(model, elementAt(model.referenced, index));
}

/**
 * A model with another main subgraph. Subgraphs and extensions are kept only if they are used: an old driver refuses a
 * model that has any.
 */
export function modelWith(model: Model, main: Subgraph): Model {
  const { operands, operations } = main;
  // The subgraphs are not searched for what they use.
  if (operands.some(({ lifetime }) => lifetime === OperandLifeTime.SUBGRAPH)) return { ...model, main };
  if (model.extensionNameToPrefix.length === 0) return { ...model, main, referenced: [] };
  const prefixes = new Set([...operands, ...operations].map(({ type }) => type >>> 16));
  const extensionNameToPrefix = model.extensionNameToPrefix.filter(({ prefix }) => prefixes.has(prefix));
  return { ...model, main, referenced: [], extensionNameToPrefix };
}

/** Whether an operation is an IF or a WHILE. */
export function isControlFlow(type: number): boolean {
  return type === OperationType.IF || type === OperationType.WHILE;
}
