/**
 * @nnhal/operations/compiling: what an engine that compiles operations computes with the reference's own functions. In browsers it is one file without
 * the definitions, with copies of what it shares with them. It follows the needs of nnhal's own packages and changes without notice.
 */
export { effectiveScale, quantiseMultiplier } from "./fixed-point.ts";
export { type Gate, type LstmCell, type LstmSettings, lstmCell, lstmSizes } from "./ops/_lstm.ts";
export { pixelBins, type Region, type RegionSettings, scaledRegions } from "./ops/_regions.ts";
export {
  type Neighbours,
  nearestSource,
  neighboursInSteps,
  neighboursOf,
  RESIZE_STEPS,
  type ResizeAlignment,
} from "./ops/_resize.ts";
export { sequenceOf } from "./ops/_sequence.ts";
export { softmaxExponentials } from "./ops/_softmax-exponentials.ts";
export { stridedRanges } from "./ops/_strided-ranges.ts";
