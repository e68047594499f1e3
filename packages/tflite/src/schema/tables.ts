/**
 * The tables of a .tflite file: a model, its subgraphs, tensors, operators and buffers. Fields are in slot order;
 * unused ones at a table's end are omitted.
 */
import {
  bool,
  bools,
  bytes,
  child,
  children,
  float32s,
  int8,
  int32,
  int32s,
  int64s,
  presence,
  reference,
  string,
  uint8,
  uint8s,
  uint16s,
  uint32,
  uint64,
} from "../flatbuffer/fields.ts";
import type { Row } from "../flatbuffer/table.ts";

/** The four characters at offset 4 of every .tflite file. */
export const FILE_IDENTIFIER = "TFL3";

/** The only version of the schema in use. */
export const SCHEMA_VERSION = 3;

/** Real value = scale * (element - zeroPoint); several of each if the indexes of a dimension have their own. */
export const quantizationLayout = {
  min: float32s(),
  max: float32s(),
  scale: float32s(),
  zeroPoint: int64s(),
  /** Another way of quantising, named by a union: 1 is of a user's own, 2 by blocks, 3 by blocks along several dimensions. */
  detailsType: uint8(),
  details: reference(),
  quantizedDimension: int32(),
};

/** Quantisation by blocks; `quantizedDimensions` are of kind 3 alone. */
export const blocksLayout = {
  scales: int32(),
  zeroPoints: int32(),
  blockSize: int32(),
  quantizedDimensions: int32s(),
};

/**
 * One dimension of a constant that leaves out zeros. Format 0: all indexes are stored. Format 1: for each index of the dimensions before,
 * a segment of the indexes that are. Both lists are unions of the vectors of `indexVectorLayouts`.
 */
export const dimensionLayout = {
  format: int8(),
  denseSize: int32(),
  arraySegmentsType: uint8(),
  arraySegments: reference(),
  arrayIndicesType: uint8(),
  arrayIndices: reference(),
};

/** Vectors of indexes; the code of one in the union is its place plus 1. */
export const indexVectorLayouts = [{ values: int32s() }, { values: uint16s() }, { values: uint8s() }] as const;

export const sparsityLayout = {
  traversalOrder: int32s(),
  blockMap: int32s(),
  dimMetadata: children(dimensionLayout),
};

export const tensorLayout = {
  shape: int32s(),
  type: int8(),
  buffer: uint32(),
  name: string(),
  quantization: child(quantizationLayout),
  isVariable: bool(),
  /** Constants whose zeros are left out. */
  sparsity: child(sparsityLayout),
  shapeSignature: int32s(),
  hasRank: bool(),
  /** The value of a VARIANT. */
  variantTensors: presence(),
  /** The id of an external buffer; 0 is none. */
  externalBuffer: uint32(),
};

export const operatorCodeLayout = {
  /** The code of operators up to 126; for greater ones 127. */
  deprecatedBuiltinCode: int8(),
  customCode: string(),
  version: int32(1),
  builtinCode: int32(),
};

export const operatorLayout = {
  opcodeIndex: uint32(),
  inputs: int32s(),
  outputs: int32s(),
  builtinOptionsType: uint8(),
  builtinOptions: reference(),
  customOptions: bytes(1),
  customOptionsFormat: int8(),
  mutatingVariableInputs: bools(),
  intermediates: int32s(),
  largeCustomOptionsOffset: uint64(),
  largeCustomOptionsSize: uint64(),
  builtinOptions2Type: uint8(),
  builtinOptions2: reference(),
};

export const subgraphLayout = {
  tensors: children(tensorLayout),
  inputs: int32s(),
  outputs: int32s(),
  operators: children(operatorLayout),
  name: string(),
};

/** Either `data`, or for a file too large for 32-bit offsets a range of the file behind the FlatBuffer. */
export const bufferLayout = {
  data: bytes(16),
  offset: uint64(),
  size: uint64(),
};

/** Another file with constants. */
export const externalGroupLayout = {
  name: string(),
};

/** A range of a file with constants. */
export const externalBufferLayout = {
  /** The id that tensors name; not 0. */
  id: uint32(),
  /** A place in the list of groups. */
  group: uint32(),
  offset: uint64(),
  length: uint64(),
  packing: string(),
};

export const metadataLayout = {
  name: string(),
  buffer: uint32(),
};

export const tensorMapLayout = {
  name: string(),
  tensorIndex: uint32(),
};

export const signatureLayout = {
  inputs: children(tensorMapLayout),
  outputs: children(tensorMapLayout),
  signatureKey: string(),
  deprecatedTag: presence(),
  subgraphIndex: uint32(),
};

export const modelLayout = {
  version: uint32(),
  operatorCodes: children(operatorCodeLayout),
  subgraphs: children(subgraphLayout),
  description: string(),
  buffers: children(bufferLayout),
  /** Replaced by `metadata`. */
  metadataBuffer: int32s(),
  metadata: children(metadataLayout),
  signatureDefs: children(signatureLayout),
  externalBufferGroups: children(externalGroupLayout),
  externalBuffers: children(externalBufferLayout),
};

export type QuantizationRow = Row<typeof quantizationLayout>;
export type BlocksRow = Row<typeof blocksLayout>;
export type DimensionRow = Row<typeof dimensionLayout>;
export type IndexVectorRow = Row<(typeof indexVectorLayouts)[number]>;
export type SparsityRow = Row<typeof sparsityLayout>;
export type TensorRow = Row<typeof tensorLayout>;
export type OperatorCodeRow = Row<typeof operatorCodeLayout>;
export type OperatorRow = Row<typeof operatorLayout>;
export type SubgraphRow = Row<typeof subgraphLayout>;
export type BufferRow = Row<typeof bufferLayout>;
export type ExternalBufferRow = Row<typeof externalBufferLayout>;
export type ModelRow = Row<typeof modelLayout>;
