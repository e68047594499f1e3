/**
 * Slices: the part of a model that an older HAL version can express, so that a driver of that version can answer which
 * of its operations it supports. A slice is a separate model. It is used for that question only.
 */
import { elementAt } from "@nnhal/operations";
import {
  type HalVersion,
  type Memory,
  type Model,
  type Operand,
  type OperandExtraParams,
  OperandLifeTime,
  type Operation,
} from "@nnhal/types";
import { noncompliantOperations } from "./compliance/needs.ts";

/** A model of the operations that a HAL version can express. */
export interface ModelSlice {
  /** In the canonical shape; without subgraphs. Compliant with the version. */
  readonly model: Model;
  /** For each operation of the slice, its index in the main subgraph of the original. */
  readonly operationIndexes: readonly number[];
}

/** The reason why a model has no slice. */
export interface Unsliceable {
  readonly unsliceable: string;
}

/**
 * Cuts from a valid model the operations that an older HAL version cannot express, and those with subgraphs. Their results
 * become inputs of the slice, which operands of the same type, dimensions and quantisation share. Values that only they
 * read become outputs.
 */
export function sliceModel(model: Model, version: HalVersion): ModelSlice | Unsliceable {
  const { operands: all } = model.main;
  const hasSubgraph = ({ inputs }: Operation) =>
    inputs.some((input) => all[input]?.lifetime === OperandLifeTime.SUBGRAPH);
  const dropped = new Set(noncompliantOperations(model, version));
  for (const [index, operation] of model.main.operations.entries()) if (hasSubgraph(operation)) dropped.add(index);
  const kept: Operation[] = [];
  const operationIndexes: number[] = [];
  for (const [index, operation] of model.main.operations.entries()) {
    if (dropped.has(index)) continue;
    kept.push(operation);
    operationIndexes.push(index);
  }
  if (kept.length === 0) return { unsliceable: `HAL ${version} can express none of the operations` };
  const builder = new SliceBuilder(model, kept);
  const operations = kept.map((operation) => builder.add(operation));
  const { operands, inputIndexes, outputIndexes, pools } = builder;
  if (outputIndexes.length === 0) {
    return { unsliceable: `none of the operations that HAL ${version} can express has a result that is used` };
  }
  return {
    model: {
      main: { operands, operations, inputIndexes, outputIndexes },
      referenced: [],
      operandValues: model.operandValues,
      pools,
      relaxComputationFloat32toFloat16: version >= "1.1" && model.relaxComputationFloat32toFloat16,
      extensionNameToPrefix: version >= "1.2" ? model.extensionNameToPrefix : [],
    },
    operationIndexes,
  };
}

/** Collects the operands that the kept operations need. A class because it collects state. */
class SliceBuilder {
  readonly operands: Operand[] = [];
  readonly inputIndexes: number[] = [];
  readonly outputIndexes: number[] = [];
  readonly pools: Memory[] = [];
  readonly #model: Model;
  /** Operands of the original that a kept operation reads. */
  readonly #read: ReadonlySet<number>;
  /** From an operand of the original to that of the slice. */
  readonly #operandOf = new Map<number, number>();
  /** The shared input by the signature of its operands. */
  readonly #sharedInputs = new Map<string, number>();
  readonly #poolOf = new Map<number, number>();

  constructor(model: Model, kept: readonly Operation[]) {
    this.#model = model;
    this.#read = new Set(kept.flatMap(({ inputs }) => inputs));
  }

  /** Adds an operation; those that it reads from have been added before. */
  add({ type, inputs, outputs }: Operation): Operation {
    return {
      type,
      inputs: inputs.map((original) => {
        const index = this.#operandOf.get(original) ?? this.#addInput(original);
        const operand = elementAt(this.operands, index);
        this.operands[index] = { ...operand, numberOfConsumers: operand.numberOfConsumers + 1 };
        return index;
      }),
      outputs: outputs.map((original) => this.#addOutput(original)),
    };
  }

  /** Adds a constant, or an input of the slice. */
  #addInput(original: number): number {
    const operand = elementAt(this.#model.main.operands, original);
    switch (operand.lifetime) {
      case OperandLifeTime.CONSTANT_COPY:
      case OperandLifeTime.NO_VALUE:
        return this.#place(original, operand);
      case OperandLifeTime.CONSTANT_REFERENCE: {
        const { location } = operand;
        return this.#place(original, {
          ...operand,
          location: { ...location, poolIndex: this.#placePool(location.poolIndex) },
        });
      }
    }
    const key = signatureOf(operand);
    const shared = this.#sharedInputs.get(key);
    if (shared !== undefined) {
      this.#operandOf.set(original, shared);
      return shared;
    }
    const index = this.#place(original, { ...operand, lifetime: OperandLifeTime.SUBGRAPH_INPUT });
    this.#sharedInputs.set(key, index);
    this.inputIndexes.push(index);
    return index;
  }

  #addOutput(original: number): number {
    const operand = elementAt(this.#model.main.operands, original);
    const isOutput =
      operand.lifetime === OperandLifeTime.SUBGRAPH_OUTPUT ||
      (operand.numberOfConsumers > 0 && !this.#read.has(original));
    const { SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE } = OperandLifeTime;
    const index = this.#place(original, { ...operand, lifetime: isOutput ? SUBGRAPH_OUTPUT : TEMPORARY_VARIABLE });
    if (isOutput) this.outputIndexes.push(index);
    return index;
  }

  #place(original: number, operand: Operand): number {
    const index = this.operands.push({ ...operand, numberOfConsumers: 0 }) - 1;
    this.#operandOf.set(original, index);
    return index;
  }

  #placePool(original: number): number {
    const index = this.#poolOf.get(original) ?? this.pools.push(elementAt(this.#model.pools, original)) - 1;
    this.#poolOf.set(original, index);
    return index;
  }
}

/** Equal for two operands that can share one input. */
function signatureOf({ type, dimensions, scale, zeroPoint, extraParams }: Operand): string {
  return JSON.stringify([type, dimensions, scale, zeroPoint, plainParams(extraParams)]);
}

function plainParams(extraParams: OperandExtraParams): unknown {
  return extraParams.kind === "extension" ? [...extraParams.extension] : extraParams;
}
