/**
 * The contract of a HAL subgraph under construction: operands made on demand from the tensors that operations use, and operands that
 * the import adds. One per .tflite subgraph.
 */
import type { AnyOperandType, Operation } from "@nnhal/operations";
import type { Subgraph } from "@nnhal/types";
import type { Place } from "../error.ts";
import type { TfliteSubgraph, TfliteTensor } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import type { Dialect } from "./dialect.ts";
import type { OperandSpec } from "./operand-types.ts";
import type { Varying } from "./varying.ts";

/** Greatest depth of subgraphs that name others; a greater one could exhaust the stack of recursive code. */
export const MOST_NESTED = 32;

/** A value that operations carry from one execution to the next: an input and an output of the subgraph. */
export interface StateOperands {
  readonly tensor: number;
  readonly input: number;
  readonly output: number;
}

/** A subgraph under construction. Operands are given by their indexes. */
export interface Graph {
  readonly path: string;
  /** The subgraph's index in the file. */
  readonly index: number;
  /** The file's. */
  readonly subgraph: TfliteSubgraph;
  /** A tensor of the file, with the type and shape that it turns out to have; undefined if there is none. */
  tensor(index: number): TfliteTensor | undefined;
  /** The operations so far, each with the index of the operator that it came from; -1 if it copies a value to an output. Not of a draft. */
  listEmitted(): readonly { readonly operation: Operation; readonly origin: number }[];
  /** The place of a tensor in problems. */
  placeOf(tensor: number): Place;
  /** Extents of a tensor as the HAL sees them: 0 is unknown, a scalar is a tensor of one element. */
  dimensions(tensor: number): readonly number[];
  /** The bytes of a constant; undefined for any other tensor. */
  constantBytes(tensor: number): Uint8Array | undefined;
  /** The bytes of a FLOAT16 constant as FLOAT32; undefined for any other tensor. */
  widenedBytes(tensor: number): Uint8Array | undefined;
  /** Makes a tensor a constant with a value that the import has computed. `shape`: as in .tflite, empty for a scalar. */
  fold(tensor: number, value: Uint8Array, shape: readonly number[]): void;
  /** The operand of a tensor. */
  operand(tensor: number): number;
  /** The name of the tensor that an operand stands for. */
  nameOf(operand: number): string | undefined;
  /** The description of an operand. */
  spec(operand: number): OperandSpec;
  /** True if an operand is a tensor without a stored shape: a scalar or one of an unknown rank. */
  isUnranked(operand: number): boolean;
  /** The bytes of an operand that is a constant. */
  valueOf(operand: number): Uint8Array | undefined;
  /** Gives an operand another shape than the file stores. */
  reshape(operand: number, shape: Varying): void;
  /**
   * Makes extents of a tensor that the file leaves open unknown if its shape is computed, or that of one of `sources` is not the stored one.
   * All extents, if the shape of one of `sources` is not what the file says.
   */
  loosen(tensor: number, sources: readonly number[], isComputed: boolean): void;
  /**
   * Gives a tensor another shape than the file stores, before its operand is made. If the file says something else, the results that
   * depend on it have the shapes that follow from their operators' inputs, whatever the file stores.
   */
  setShape(tensor: number, shape: Varying): void;
  /** Gives a tensor another type than the file stores, before its operand is made. */
  setType(tensor: number, type: TensorTypeName): void;
  /** True if the file leaves extents of an operand's tensor open, and nothing contradicts it. */
  leavesOpen(operand: number): boolean;
  /** True if a tensor has a shape that contradicts what the file says. */
  isContradicted(): boolean;
  /** Known part of the shape of a tensor's operand. */
  findVarying(tensor: number): Varying;
  /** The extents that the file says, 0 where it leaves them open. */
  readDeclared(tensor: number): readonly number[];
  /** The extents of a tensor's operand; undefined if it has none. */
  usedShape(tensor: number): readonly number[] | undefined;
  /** The description of a tensor's operand; does not make the operand. */
  tensorSpec(tensor: number): OperandSpec;
  /**
   * A constant of the file seen as another operand: other dimensions, type or quantisation over the same bytes. The same
   * one for each call with the same key.
   */
  reinterpret(tensor: number, key: string, spec: () => OperandSpec): number;
  /** A constant that the import adds. */
  constant(spec: OperandSpec, value: Uint8Array): number;
  /** Like `constant`, but the same one for each call with the same key. */
  share(key: string, spec: OperandSpec, value: Uint8Array): number;
  /** A reference to another subgraph of the model. */
  subgraphReference(index: number): number;
  /** An operand that is omitted. */
  omit(type: AnyOperandType, rank: number): number;
  /** A value between operations that is not a tensor of the file. */
  temporary(spec: OperandSpec): number;
  /** Like `temporary`, but made once for each key: `make` emits the operation that writes it. */
  derive(key: string, spec: OperandSpec, make: (operand: number) => void): number;
  /** The operand of a variable tensor, and an output of the subgraph for its new value. */
  state(tensor: number): StateOperands;
  emit(operation: Operation, inputs: readonly number[], outputs: readonly number[], origin: number): void;
  /** The operand with 64-bit integers of a constant that was narrowed to INT32; undefined for any other operand. */
  widen(operand: number): number | undefined;
  /** Starts a draft of this graph. Only one of several drafts of the same state may be kept. */
  draft(): GraphDraft;
  /** The subgraph that was made. Not of a draft. */
  finish(): { readonly subgraph: Subgraph; readonly states: readonly StateOperands[] };
}

/** The plan of an operator: a graph that reads through to another, which does not change before `keep`. */
export interface GraphDraft {
  readonly graph: Graph;
  /** Makes all changes in the other graph. Throws a TfliteError if the model has too many constants. */
  keep(): void;
}

/** Facts of a subgraph of the file. */
export interface GraphFacts {
  /** Its index in the file. */
  readonly index: number;
  /** INT64 tensors that are held as TENSOR_INT32, beside constants. */
  readonly narrow: ReadonlySet<number>;
  readonly dialect: Dialect;
  /** True if a variable tensor that is an output is the new value of the state, rather than a copy beside it. */
  readonly returnsStates: boolean;
}

/** A tensor that is there, with the type and shape that it turns out to have. */
export function tensorOf({ tensor }: Pick<Graph, "tensor">, index: number): TfliteTensor {
  const found = tensor(index);
  if (found === undefined) throw new RangeError(`there is no tensor ${index}`);
  return found;
}
