/** A subgraph as planning sees it: the writer and the readers of each operand, and the size of operands. */
import { byteSize, elementAt, type FactsByCode, isUnspecified } from "@nnhal/operations";
import { type Operand, OperandLifeTime, OperandType, OperationType, type Subgraph } from "@nnhal/types";

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

/** Lifetimes of operands that always have a size, or need none. */
const sized: ReadonlySet<number> = new Set([
  OperandLifeTime.CONSTANT_COPY,
  OperandLifeTime.CONSTANT_REFERENCE,
  OperandLifeTime.NO_VALUE,
  OperandLifeTime.SUBGRAPH,
]);

/**
 * Returns true if the size of an operand is not known before execution: an extent is not known, the type is an extension's that
 * no device describes, or it is an OEM scalar. Constants and omitted operands always have a size.
 */
export function hasUnknownSize({ type, dimensions, lifetime }: Operand, factsOf: FactsByCode): boolean {
  if (sized.has(lifetime)) return false;
  const facts = factsOf(type);
  return facts === undefined || type === OperandType.OEM || isUnspecified(facts, dimensions);
}

/** Bytes of an operand; unknown extents count as 1, and elements of unknown types as 1 byte. */
export function bytesOf({ type, dimensions }: Operand, factsOf: FactsByCode): number {
  const known = dimensions.map((extent) => Math.max(extent, 1));
  return byteSize(factsOf(type) ?? { kind: "tensor", elementSize: 1 }, known);
}

/** Returns true if an operation is an IF or a WHILE. */
export function isControlFlow(type: number): boolean {
  return type === OperationType.IF || type === OperationType.WHILE;
}
