/**
 * The options of builtin operators: every table of the schema's BuiltinOptions union, in the order of the union's codes,
 * each with its fields in slot order. Operators from 162 on keep theirs in a second union, of which the tables of operators that
 * TensorFlow Lite has kernels for are known.
 */
import {
  anyInt64,
  bool,
  type Codes,
  code,
  float32,
  float32s,
  int8,
  int32,
  int32s,
  int64,
  int64s,
  string,
  uint8s,
  uint32,
} from "../flatbuffer/fields.ts";
import type { Field } from "../flatbuffer/table.ts";
import {
  activations,
  combiners,
  lshProjectionTypes,
  lstmKernelTypes,
  mirrorPadModes,
  paddings,
  rngAlgorithms,
  tensorTypes,
  weightsFormats,
} from "./codes.ts";

/** The value of one option; enum members by name. */
export type OptionValue = number | boolean | string | readonly number[];

/** The fields of one options table. A vector or string that the file leaves out is undefined. */
export type OptionsLayout = Readonly<Record<string, OptionField>>;
/** A field of an options table, whatever its type; methods take part bivariantly, so that each kind of field fits. */
type OptionField = Field<OptionValue | undefined>;

const activation = { fusedActivationFunction: code(activations) };
const padding = { padding: code(paddings) };
const stride = { strideW: int32(), strideH: int32() };
const dilation = { dilationWFactor: int32(1), dilationHFactor: int32(1) };
const asymmetric = { asymmetricQuantizeInputs: bool() };
const clips = { cellClip: float32(), projClip: float32() };
const type = (absent: (typeof tensorTypes)[number] = "FLOAT32") =>
  code(tensorTypes satisfies Codes, tensorTypes.indexOf(absent));
const none = {};

export const optionsTables = {
  Conv2DOptions: { ...padding, ...stride, ...activation, ...dilation, quantizedBiasType: type() },
  DepthwiseConv2DOptions: { ...padding, ...stride, depthMultiplier: int32(), ...activation, ...dilation },
  ConcatEmbeddingsOptions: {
    numChannels: int32(),
    numColumnsPerChannel: int32s(),
    embeddingDimPerChannel: int32s(),
  },
  LSHProjectionOptions: { type: code(lshProjectionTypes) },
  Pool2DOptions: { ...padding, ...stride, filterWidth: int32(), filterHeight: int32(), ...activation },
  SVDFOptions: { rank: int32(), ...activation, ...asymmetric },
  RNNOptions: { ...activation, ...asymmetric },
  FullyConnectedOptions: {
    ...activation,
    weightsFormat: code(weightsFormats),
    keepNumDims: bool(),
    ...asymmetric,
    quantizedBiasType: type(),
  },
  SoftmaxOptions: { beta: float32() },
  ConcatenationOptions: { axis: int32(), ...activation },
  AddOptions: { ...activation, potScaleInt16: bool(true) },
  L2NormOptions: activation,
  LocalResponseNormalizationOptions: { radius: int32(), bias: float32(), alpha: float32(), beta: float32() },
  LSTMOptions: { ...activation, ...clips, kernelType: code(lstmKernelTypes), ...asymmetric },
  ResizeBilinearOptions: { newHeight: int32(), newWidth: int32(), alignCorners: bool(), halfPixelCenters: bool() },
  CallOptions: { subgraph: uint32() },
  ReshapeOptions: { newShape: int32s() },
  SkipGramOptions: { ngramSize: int32(), maxSkipSize: int32(), includeAllNgrams: bool() },
  SpaceToDepthOptions: { blockSize: int32() },
  EmbeddingLookupSparseOptions: { combiner: code(combiners) },
  MulOptions: activation,
  PadOptions: none,
  GatherOptions: { axis: int32(), batchDims: int32() },
  BatchToSpaceNDOptions: none,
  SpaceToBatchNDOptions: none,
  TransposeOptions: none,
  ReducerOptions: { keepDims: bool() },
  SubOptions: { ...activation, potScaleInt16: bool(true) },
  DivOptions: activation,
  SqueezeOptions: { squeezeDims: int32s() },
  SequenceRNNOptions: { timeMajor: bool(), ...activation, ...asymmetric },
  StridedSliceOptions: {
    beginMask: int32(),
    endMask: int32(),
    ellipsisMask: int32(),
    newAxisMask: int32(),
    shrinkAxisMask: int32(),
    offset: bool(),
  },
  ExpOptions: none,
  TopKV2Options: none,
  SplitOptions: { numSplits: int32() },
  LogSoftmaxOptions: none,
  CastOptions: { inDataType: type(), outDataType: type() },
  DequantizeOptions: none,
  MaximumMinimumOptions: none,
  ArgMaxOptions: { outputType: type() },
  LessOptions: none,
  NegOptions: none,
  PadV2Options: none,
  GreaterOptions: none,
  GreaterEqualOptions: none,
  LessEqualOptions: none,
  SelectOptions: none,
  SliceOptions: none,
  TransposeConvOptions: { ...padding, ...stride, ...activation, quantizedBiasType: type() },
  SparseToDenseOptions: { validateIndices: bool() },
  TileOptions: none,
  ExpandDimsOptions: none,
  EqualOptions: none,
  NotEqualOptions: none,
  ShapeOptions: { outType: type() },
  PowOptions: none,
  ArgMinOptions: { outputType: type() },
  FakeQuantOptions: { min: float32(), max: float32(), numBits: int32(), narrowRange: bool() },
  PackOptions: { valuesCount: int32(), axis: int32() },
  LogicalOrOptions: none,
  OneHotOptions: { axis: int32() },
  LogicalAndOptions: none,
  LogicalNotOptions: none,
  UnpackOptions: { num: int32(), axis: int32() },
  FloorDivOptions: none,
  SquareOptions: none,
  ZerosLikeOptions: none,
  FillOptions: none,
  BidirectionalSequenceLSTMOptions: {
    ...activation,
    ...clips,
    mergeOutputs: bool(),
    timeMajor: bool(true),
    ...asymmetric,
  },
  BidirectionalSequenceRNNOptions: { timeMajor: bool(), ...activation, mergeOutputs: bool(), ...asymmetric },
  UnidirectionalSequenceLSTMOptions: {
    ...activation,
    ...clips,
    timeMajor: bool(),
    ...asymmetric,
    diagonalRecurrentTensors: bool(),
  },
  FloorModOptions: none,
  RangeOptions: none,
  ResizeNearestNeighborOptions: { alignCorners: bool(), halfPixelCenters: bool() },
  LeakyReluOptions: { alpha: float32() },
  SquaredDifferenceOptions: none,
  MirrorPadOptions: { mode: code(mirrorPadModes) },
  AbsOptions: none,
  SplitVOptions: { numSplits: int32() },
  UniqueOptions: { idxOutType: type("INT32") },
  ReverseV2Options: none,
  AddNOptions: none,
  GatherNdOptions: none,
  CosOptions: none,
  WhereOptions: none,
  RankOptions: none,
  ReverseSequenceOptions: { seqDim: int32(), batchDim: int32() },
  MatrixDiagOptions: none,
  QuantizeOptions: none,
  MatrixSetDiagOptions: none,
  HardSwishOptions: none,
  IfOptions: { thenSubgraphIndex: int32(), elseSubgraphIndex: int32() },
  WhileOptions: { condSubgraphIndex: int32(), bodySubgraphIndex: int32() },
  DepthToSpaceOptions: { blockSize: int32() },
  NonMaxSuppressionV4Options: none,
  NonMaxSuppressionV5Options: none,
  ScatterNdOptions: none,
  SelectV2Options: none,
  DensifyOptions: none,
  SegmentSumOptions: none,
  BatchMatMulOptions: { adjX: bool(), adjY: bool(), ...asymmetric },
  CumsumOptions: { exclusive: bool(), reverse: bool() },
  CallOnceOptions: { initSubgraphIndex: int32() },
  BroadcastToOptions: none,
  Rfft2dOptions: none,
  Conv3DOptions: {
    ...padding,
    strideD: int32(),
    ...stride,
    ...activation,
    dilationDFactor: int32(1),
    ...dilation,
  },
  HashtableOptions: { tableId: int32(), keyDtype: type(), valueDtype: type() },
  HashtableFindOptions: none,
  HashtableImportOptions: none,
  HashtableSizeOptions: none,
  VarHandleOptions: { container: string(), sharedName: string() },
  ReadVariableOptions: none,
  AssignVariableOptions: none,
  RandomOptions: { seed: anyInt64(), seed2: anyInt64() },
  BucketizeOptions: { boundaries: float32s() },
  GeluOptions: { approximate: bool() },
  DynamicUpdateSliceOptions: none,
  UnsortedSegmentProdOptions: none,
  UnsortedSegmentMaxOptions: none,
  UnsortedSegmentMinOptions: none,
  UnsortedSegmentSumOptions: none,
  ATan2Options: none,
  SignOptions: none,
  BitcastOptions: none,
  BitwiseXorOptions: none,
  RightShiftOptions: none,
} as const satisfies Readonly<Record<string, OptionsLayout>>;

/** Tables of the second union, whose other tables are of operators without kernels, by their codes in it. */
const secondTables = {
  StablehloScatterOptions: {
    code: 7,
    layout: {
      indicesAreSorted: bool(),
      updateWindowDims: int64s(),
      insertedWindowDims: int64s(),
      scatterDimsToOperandDims: int64s(),
      indexVectorDim: int64(),
      uniqueIndices: bool(),
      updateComputationSubgraphIndex: int32(),
    },
  },
  StablehloPadOptions: {
    code: 10,
    layout: { edgePaddingLow: int64s(), edgePaddingHigh: int64s(), interiorPadding: int64s() },
  },
  StablehloReduceWindowOptions: {
    code: 13,
    layout: {
      windowDimensions: int64s(),
      windowStrides: int64s(),
      baseDilations: int64s(),
      windowDilations: int64s(),
      // Two for each dimension: before its elements, and after them.
      padding: int64s(),
      bodySubgraphIndex: int32(),
    },
  },
  StablehloGatherOptions: {
    code: 16,
    layout: {
      offsetDims: int64s(),
      collapsedSliceDims: int64s(),
      startIndexMap: int64s(),
      indexVectorDim: int64(),
      sliceSizes: int64s(),
      indicesAreSorted: bool(),
    },
  },
  DilateOptions: { code: 18, layout: none },
  StablehloRngBitGeneratorOptions: { code: 19, layout: { algorithm: code(rngAlgorithms) } },
  // The function is a member of an enum of 32 bits: 1 ADD, 2 MUL, 3 MINIMUM, 4 MAXIMUM, 5 ALL, 6 ANY.
  ReduceWindowOptions: { code: 20, layout: { reduceFunction: int32() } },
  StableHLOCompositeOptions: {
    code: 21,
    layout: {
      name: string(),
      decompositionSubgraphIndex: int32(),
      // The bytes of a FlexBuffer, if the format is 0.
      compositeAttributes: uint8s(),
      compositeAttributesFormat: int8(),
      version: int32(),
    },
  },
  StablehloShiftLeftOptions: { code: 22, layout: none },
  StablehloCaseOptions: { code: 23, layout: { branchSubgraphIndices: int32s() } },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly layout: OptionsLayout }>>;

/** The name of an options table. */
export type OptionsTableName = keyof typeof optionsTables | keyof typeof secondTables;

/** The code of an options table in the second union; undefined for one of the first union. */
export function secondTableCode(name: OptionsTableName): number | undefined {
  return isSecond(name) ? secondTables[name].code : undefined;
}

function isSecond(name: OptionsTableName): name is keyof typeof secondTables {
  return Object.hasOwn(secondTables, name);
}

/** Names of the options tables; a table's code in the union is its place plus 1. */
export function optionsTableNames(): readonly string[] {
  return Object.keys(optionsTables);
}

/** The layout of an options table. */
export function optionsLayout(name: OptionsTableName): OptionsLayout {
  return isSecond(name) ? secondTables[name].layout : optionsTables[name];
}
