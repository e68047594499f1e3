/** The state of a subgraph under construction, and layers over all of it. */
import type { Operation } from "@nnhal/operations";
import type { Operation as HalOperation, Operand } from "@nnhal/types";
import type { Place } from "../../error.ts";
import type { TfliteTensor } from "../../model.ts";
import type { StateOperands } from "../graph.ts";
import type { OperandSpec } from "../operand-types.ts";
import { Layer } from "./layer.ts";

/** An operand that is made. */
export type OperandDraft = OperandSpec & Pick<Operand, "lifetime" | "location">;

/** A constant that the import adds: its bytes, and the subject of a problem of it. */
export interface AddedConstant {
  readonly value: Uint8Array;
  readonly place: Place;
}

/** An operation, and the index of the operator that it came from. */
export interface EmittedOperation {
  readonly operation: Operation;
  readonly origin: number;
}

/** The state of a subgraph. Tensors, operands and operations are given by their indexes. */
export interface GraphState {
  /** Tensors with another type than in the file. */
  readonly tensors: Layer<number, TfliteTensor>;
  /** Tensors with another type or shape than in the file. */
  readonly settled: Layer<number, TfliteTensor>;
  /** Extents that replace those of the file; -1 is unknown. */
  readonly shapes: Layer<number, readonly number[]>;
  /** Descriptions of the operands of tensors, once they are known. */
  readonly specs: Layer<number, OperandSpec>;
  /** Values of tensors that the import has computed. */
  readonly folded: Layer<number, Uint8Array>;
  /** Tensors whose shape is not the stored one. */
  readonly reshaped: Layer<number, true>;
  /** Those of them whose shape contradicts the file, or depends on one that does. */
  readonly unforeseen: Layer<number, true>;
  readonly operands: Layer<number, OperandDraft>;
  /** Bytes of constants, by operand. */
  readonly values: Layer<number, Uint8Array>;
  /** Constants that have no location yet, by operand. */
  readonly added: Layer<number, AddedConstant>;
  readonly operandByTensor: Layer<number, number>;
  readonly tensorByOperand: Layer<number, number>;
  readonly operandByKey: Layer<string, number>;
  readonly operations: Layer<number, HalOperation>;
  readonly emitted: Layer<number, EmittedOperation>;
  /** Numbers of operations that read an operand. */
  readonly consumers: Layer<number, number>;
  readonly states: Layer<number, StateOperands>;
  /** Operands with the new values of variable tensors. */
  readonly newStates: Layer<number, number>;
}

/** The state of a subgraph without operands, or a layer over a state. */
export function layerState(below?: GraphState): GraphState {
  return {
    tensors: new Layer(below?.tensors),
    settled: new Layer(below?.settled),
    shapes: new Layer(below?.shapes),
    specs: new Layer(below?.specs),
    folded: new Layer(below?.folded),
    reshaped: new Layer(below?.reshaped),
    unforeseen: new Layer(below?.unforeseen),
    operands: new Layer(below?.operands),
    values: new Layer(below?.values),
    added: new Layer(below?.added),
    operandByTensor: new Layer(below?.operandByTensor),
    tensorByOperand: new Layer(below?.tensorByOperand),
    operandByKey: new Layer(below?.operandByKey),
    operations: new Layer(below?.operations),
    emitted: new Layer(below?.emitted),
    consumers: new Layer(below?.consumers),
    states: new Layer(below?.states),
    newStates: new Layer(below?.newStates),
  };
}

/** Makes the changes of a layer in the state below. */
export function keepState(state: GraphState): void {
  for (const layer of Object.values(state)) layer.keep();
}
