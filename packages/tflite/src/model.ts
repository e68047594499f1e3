/**
 * A .tflite model as plain objects, as `readTflite` returns it and `writeTflite` accepts it.
 */
import type { TensorTypeName } from "./schema/codes.ts";
import type { OptionValue } from "./schema/options.ts";

/** Affine quantisation: real value = scale * (element - zeroPoint). */
export interface TfliteQuantization {
  /** One scale for the tensor, or one for each index along `quantizedDimension`. Never empty. */
  readonly scale: readonly number[];
  /** As many as scales. */
  readonly zeroPoint: readonly number[];
  readonly quantizedDimension: number;
}

/** Quantisation by blocks: so many consecutive elements share a scale. */
export interface TfliteBlocks {
  /** The tensor of the subgraph that has the scales. */
  readonly scales: number;
  /** The tensor that has the zero points; -1: they are 0. */
  readonly zeroPoints: number;
  readonly blockSize: number;
  /** The dimensions that are quantised, if the file lists them (MultiAxisQuantization). */
  readonly dimensions?: readonly number[];
}

/** Which elements of a dimension a sparse constant stores: all of them, or those of a list. */
export type TfliteSparseDimension =
  | { readonly size: number }
  | {
      /** Where the indexes of each place of the dimensions before begin; the last entry is the end. */
      readonly segments: readonly number[];
      readonly indexes: readonly number[];
    };

/** Form of a constant that leaves out zeros. */
export interface TfliteSparsity {
  /** The order of storage: the tensor's dimensions, then those inside of blocks, which are numbered from the tensor's rank on. */
  readonly traversalOrder: readonly number[];
  /** The dimension of the tensor that each block dimension is a part of. */
  readonly blockMap: readonly number[];
  /** In the order of storage. */
  readonly dimensions: readonly TfliteSparseDimension[];
}

/** Where a constant lies that is in another file, or behind the FlatBuffer of a file above 2 GiB. */
export interface TfliteExternal {
  /** The name of the other file, as the model gives it; absent: the file of the model. */
  readonly group?: string;
  /** In bytes. */
  readonly offset: number;
  readonly length: number;
}

/** A tensor of a subgraph. */
export interface TfliteTensor {
  /** May be empty, and need not be unique. */
  readonly name: string;
  /** Extents; empty for a scalar. */
  readonly shape: readonly number[];
  /** Like `shape`, with -1 for extents that callers may choose. Absent if the file has none. */
  readonly shapeSignature?: readonly number[];
  readonly type: TensorTypeName;
  /** The elements of a constant, little-endian and packed: a view of the file, not a copy. */
  readonly data?: Uint8Array;
  /** Set if the elements lie in another file. `writeTflite` writes where, and not `data`, also for those behind the FlatBuffer. */
  readonly external?: TfliteExternal;
  /** State that operators keep from one execution to the next. */
  readonly isVariable: boolean;
  readonly quantization?: TfliteQuantization;
  /** Set if the tensor is quantised by blocks. */
  readonly blocks?: TfliteBlocks;
  /** Set if the file states that `shape` is known even if it is empty. */
  readonly hasRank?: true;
  /** Set if `data` leaves out zeros. */
  readonly sparsity?: TfliteSparsity;
}

/** An operator of a subgraph. */
export interface TfliteOperator {
  /** A member of `BuiltinOperatorName`; `BUILTIN_n` for a code n newer than this package. */
  readonly name: string;
  /** The name of the custom operator, if `name` is CUSTOM. */
  readonly customCode?: string;
  readonly customOptions?: Uint8Array;
  /** The operator's version, raised by its makers when an option or type was added. */
  readonly version: number;
  /** Indexes of tensors; -1 is an omitted one. */
  readonly inputs: readonly number[];
  /** Indexes of tensors. */
  readonly outputs: readonly number[];
  /** The options by their schema names in camelCase, enum members by name; empty if the file has none. */
  readonly options: Readonly<Record<string, OptionValue>>;
  /** Tensors that describe values inside the operator. Absent if there are none. */
  readonly intermediates?: readonly number[];
  /** True if the operator changes each input. Absent if the file does not specify it. */
  readonly mutatingVariableInputs?: readonly boolean[];
}

/** A graph of operators. */
export interface TfliteSubgraph {
  readonly name: string;
  readonly tensors: readonly TfliteTensor[];
  /** In execution order. */
  readonly operators: readonly TfliteOperator[];
  /** Indexes of tensors. */
  readonly inputs: readonly number[];
  /** Indexes of tensors. */
  readonly outputs: readonly number[];
}

/** A named block of bytes that describes the model. */
export interface TfliteMetadata {
  readonly name: string;
  readonly data: Uint8Array;
}

/** A name for a subgraph, and names for its inputs and outputs. */
export interface TfliteSignature {
  readonly key: string;
  readonly subgraph: number;
  readonly inputs: readonly { readonly name: string; readonly tensor: number }[];
  readonly outputs: readonly { readonly name: string; readonly tensor: number }[];
}

/** A .tflite model. */
export interface TfliteModel {
  /** Version of the schema: 3. */
  readonly version: number;
  readonly description: string;
  /** The first one is the model; IF and WHILE name others. */
  readonly subgraphs: readonly TfliteSubgraph[];
  readonly metadata: readonly TfliteMetadata[];
  readonly signatures: readonly TfliteSignature[];
}
