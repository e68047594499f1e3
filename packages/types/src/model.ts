/**
 * A model as it crosses the HAL, in its canonical shape, that of HAL 1.3. v1-0.ts to v1-3.ts declare the structs
 * of other versions that differ.
 */
import type { Memory } from "./memory.ts";

/** Where a value lies (HAL DataLocation). */
export interface DataLocation {
  /** Index of the pool. */
  readonly poolIndex: number;
  /** Offset in bytes from the start of the pool. */
  readonly offset: number;
  /** Length in bytes. */
  readonly length: number;
  /** Bytes after the value that a device may read and overwrite (AIDL 1); only in requests. Default: 0. */
  readonly padding?: number | undefined;
}

/** Scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand (HAL 1.2 SymmPerChannelQuantParams). */
export interface SymmPerChannelQuantParams {
  /** One scale > 0 for each index along `channelDim`. */
  readonly scales: readonly number[];
  /** The dimension that the scales belong to. */
  readonly channelDim: number;
}

/** Parameters of an operand beyond scale and zeroPoint (HAL 1.2 Operand.ExtraParams). */
export type OperandExtraParams =
  | { readonly kind: "none" }
  | { readonly kind: "channelQuant"; readonly channelQuant: SymmPerChannelQuantParams }
  /** Opaque bytes, defined by a vendor extension. */
  | { readonly kind: "extension"; readonly extension: Uint8Array };

/** A value of a subgraph: input, output, constant, or temporary (HAL 1.3 Operand). */
export interface Operand {
  /** A code of `OperandType`, or of an extension. */
  readonly type: number;
  /** Extents; 0 is an unknown extent, [] an unknown rank (tensors, since 1.2). Scalars have none. */
  readonly dimensions: readonly number[];
  /** Number of times that operations of the subgraph read the operand. An operation that reads it twice counts twice. */
  readonly numberOfConsumers: number;
  /** Quantisation scale; 0 if the type has none. */
  readonly scale: number;
  /** Quantised value of the real value 0; 0 if the type has none. */
  readonly zeroPoint: number;
  /** A code of `OperandLifeTime`. */
  readonly lifetime: number;
  /** Where a constant's value lies; all 0 for other lifetimes, except SUBGRAPH, whose offset is the subgraph's index. */
  readonly location: DataLocation;
  readonly extraParams: OperandExtraParams;
}

/** One operation of a subgraph (HAL Operation). */
export interface Operation {
  /** A code of `OperationType`, or of an extension. */
  readonly type: number;
  /** Indexes of the operands it reads, in the order of the operation's documentation. */
  readonly inputs: readonly number[];
  /** Indexes of the operands it writes. */
  readonly outputs: readonly number[];
}

/** A graph of operations (HAL 1.3 Subgraph). */
export interface Subgraph {
  readonly operands: readonly Operand[];
  /** In an order in which they can be executed. */
  readonly operations: readonly Operation[];
  /** Indexes of the operands of lifetime SUBGRAPH_INPUT, each once, in the caller's order. */
  readonly inputIndexes: readonly number[];
  /** Indexes of the operands of lifetime SUBGRAPH_OUTPUT, each once, in the caller's order. */
  readonly outputIndexes: readonly number[];
}

/** The prefix that stands for an extension in one model (HAL 1.2 Model.ExtensionNameAndPrefix). */
export interface ExtensionNameAndPrefix {
  readonly name: string;
  /** The upper 16 bits of the extension's codes; never 0. */
  readonly prefix: number;
}

/** A model (HAL 1.3 Model). */
export interface Model {
  readonly main: Subgraph;
  /** Subgraphs that IF and WHILE operations of other subgraphs name. */
  readonly referenced: readonly Subgraph[];
  /** Values of the CONSTANT_COPY operands. */
  readonly operandValues: Uint8Array;
  /** Memory that holds the CONSTANT_REFERENCE operands. */
  readonly pools: readonly Memory[];
  /** True if float32 operations may be computed with the range and precision of float16. */
  readonly relaxComputationFloat32toFloat16: boolean;
  /** The extensions in use, each name and each prefix once. */
  readonly extensionNameToPrefix: readonly ExtensionNameAndPrefix[];
}
