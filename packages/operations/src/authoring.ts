/**
 * @nnhal/operations/authoring: the builders for definitions of operations, such as those of a vendor's extension. Code that only reads
 * definitions needs only `@nnhal/operations`.
 */
export { halOperation } from "./all.ts";
export {
  type FlexMap,
  type FlexValue,
  type OptionValues,
  readStruct,
  type StoredOptions,
  type StructField,
  type StructValues,
} from "./custom-options.ts";
export {
  type Alternative,
  type AlternativeSpec,
  alternative,
  type CheckArgs,
  defineOperation,
  type OperationSpec,
  type RowOf,
  type RowOfLength,
  type TypedForm,
  type TypedOperation,
} from "./define.ts";
export {
  defineExtension,
  type ExtensionTypeSpec,
  type ExtensionTypesOf,
  extensionTypes,
  type TypedExtension,
} from "./extension.ts";
export { ensure, OperationError } from "./fail.ts";
export {
  effectiveScale,
  multiplyByQuantisedMultiplier,
  type QuantisedMultiplier,
  quantiseMultiplier,
} from "./fixed-point.ts";
export { fixedPoint16 } from "./fixed-point-functions.ts";
export type { AnyOperandType, AnyTensorData, ExtensionOperandType } from "./operand-type.ts";
export type { Store } from "./ops/_accumulator.ts";
export { broadcastData, inferBroadcast } from "./ops/_broadcast.ts";
export { CHUNK, copyInChunks, fillInChunks, inChunks, type Pacer, pacer } from "./ops/_chunks.ts";
export { connect } from "./ops/_connect.ts";
export {
  blockOf,
  convolve,
  convolvedShape,
  type Filters,
  multiply,
  type Sliding,
  WORK_BETWEEN_PAUSES,
} from "./ops/_convolution.ts";
export {
  checkChannelDim,
  dilationParams,
  ensureBias,
  ensureDepth,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./ops/_convolution-params.ts";
export { convolveDepthwise } from "./ops/_depthwise.ts";
export { sigmoid } from "./ops/_gate-activation.ts";
export { greatest } from "./ops/_greatest.ts";
export { type Image, imageDimensions, readImage } from "./ops/_image.ts";
export { normaliseLayer } from "./ops/_layer-norm.ts";
export {
  ensureSettings,
  type Gate,
  type LstmCell,
  type LstmOperands,
  lstmCell,
  lstmSizes,
  lstmState,
  lstmStep,
} from "./ops/_lstm.ts";
export {
  inferTwoWayLstm,
  lstmDirectionParams,
  runTwoWayLstm,
  type TwoWayLstmArgs,
  type TwoWayLstmOutputs,
} from "./ops/_lstm-directions.ts";
export { lstmLayerNorm, lstmOperands } from "./ops/_lstm-params.ts";
export { type LstmSequence, runLstmSequence } from "./ops/_lstm-sequence.ts";
export { addProduct, type Product, plainProduct } from "./ops/_matrix.ts";
export { movedInfo } from "./ops/_moved.ts";
export { accumulateOdds, classAt } from "./ops/_multinomial.ts";
export { type Pad, pad, paddedShape, padsOf } from "./ops/_pads.ts";
export { philox, unitInterval } from "./ops/_philox.ts";
export { copySteps, offsetOf, permute, place } from "./ops/_rearrange.ts";
export { ensureElements, reduce, reducedAxes, reducedCount, reducedShape } from "./ops/_reduction.ts";
export { rnnStep, rnnUnits, runRnnSequence } from "./ops/_rnn.ts";
export { inferRnnPair, runRnnPair } from "./ops/_rnn-pair.ts";
export { sequenceOf, sequenceShape } from "./ops/_sequence.ts";
export { spread, spreadExtent } from "./ops/_spread.ts";
export { type Steps, walk } from "./ops/_walk.ts";
export { widen, widenOnce } from "./ops/_widen.ts";
export {
  any,
  bool,
  type ColumnsOf,
  type FixedParam,
  float32,
  int32,
  mayStayZero,
  omittable,
  optional,
  read,
  scalar,
  subgraph,
  tensor,
  trailing,
  type VaryingParam,
  variadic,
  wide,
} from "./params.ts";
export { broadcastShape, ensureShape } from "./shape.ts";
export { resize } from "./tensor.ts";
export { depthwiseWork, filterWork, recurrentWork } from "./work.ts";
