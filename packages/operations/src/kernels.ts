/**
 * @nnhal/operations/kernels: what `@nnhal/operations/authoring` has, and parts of kernels that nnhal.tflite's operations share with the HAL's. They
 * follow the needs of nnhal's own packages and change without notice; a vendor's extension needs none of them.
 */

export { halOperation } from "./all.ts";
// In a browser one file serves both entries, so it has all of the other one.
export * from "./authoring.ts";
export {
  effectiveScale,
  multiplyByQuantisedMultiplier,
  type QuantisedMultiplier,
  quantiseMultiplier,
} from "./fixed-point.ts";
export { fixedPoint16 } from "./fixed-point-functions.ts";
export type { Store } from "./ops/_accumulator.ts";
export { type BatchProduct, matricesOf, multiplyBatches, rowsOfMatrices } from "./ops/_batch-product.ts";
export { broadcastData } from "./ops/_broadcast.ts";
export { connect } from "./ops/_connect.ts";
export { convolve, convolvedShape, type Filters, type Sliding } from "./ops/_convolution.ts";
export {
  checkChannelDim,
  dilationParams,
  ensureDepth,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./ops/_convolution-params.ts";
export { copyElements, fillElements } from "./ops/_copies.ts";
export { convolveDepthwise } from "./ops/_depthwise.ts";
export { sigmoid } from "./ops/_gate-activation.ts";
export { greatestOfRows } from "./ops/_greatest.ts";
export { type Image, imageDimensions, readImage } from "./ops/_image.ts";
export { filtersOfUnit, multiply } from "./ops/_inner-products.ts";
export { computeLanes, greatestOf, type Lanes, lanesOf, type Pass, type Piece } from "./ops/_lanes.ts";
export { normaliseLayer } from "./ops/_layer-norm.ts";
export { ensureSettings, type Gate, type LstmCell, type LstmOperands, lstmCell, lstmSizes } from "./ops/_lstm.ts";
export {
  inferTwoWayLstm,
  lstmDirectionParams,
  runTwoWayLstm,
  type TwoWayLstmArgs,
  type TwoWayLstmOutputs,
} from "./ops/_lstm-directions.ts";
export { type LstmSequence, runLstmSequence } from "./ops/_lstm-sequence.ts";
export { type Product, plainProduct } from "./ops/_matrix.ts";
export { inferMirrorPad, mirror, mirrorModeProblem } from "./ops/_mirror.ts";
export { movedInfo } from "./ops/_moved.ts";
export { accumulateOdds, classAt } from "./ops/_multinomial.ts";
export { ensureAlike, interleave } from "./ops/_packing.ts";
export { type Pad, pad, paddedShape, padsOf } from "./ops/_pads.ts";
export { philox } from "./ops/_philox.ts";
export { copySteps, offsetOf, permute, place, reverseAxes } from "./ops/_rearrange.ts";
export { ensureElements, reduce, reducedAxes, reducedCount, reducedShape } from "./ops/_reduction.ts";
export { rnnUnits, runRnnSequence } from "./ops/_rnn.ts";
export { inferRnnPair, runRnnPair } from "./ops/_rnn-pair.ts";
export { copyWholeRun, costOfRun } from "./ops/_runs.ts";
export { sequenceOf, sequenceShape } from "./ops/_sequence.ts";
export { spread, spreadExtent } from "./ops/_spread.ts";
export type { Slicing } from "./ops/_strided-ranges.ts";
export { widen, widenOnce } from "./ops/_widen.ts";
export { stepsInTurn } from "./phases.ts";
export { resize } from "./tensor.ts";
export { depthwiseWork, filterWork, recurrentWork } from "./work.ts";
