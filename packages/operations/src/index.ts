/**
 * @nnhal/operations: one record per operation of the NN HAL, and what reads them.
 */
export * from "./activation.ts";
export * from "./bind.ts";
export { byteSize, type ElementFacts, isUnspecified, specifiedByteSize } from "./byte-size.ts";
export * from "./codec.ts";
export * from "./define.ts";
export { elementAt } from "./element-at.ts";
export * from "./fail.ts";
export * from "./fixed-point.ts";
export * from "./float16.ts";
export * from "./match.ts";
export * from "./operation-args.ts";
export type * from "./operation-types.gen.ts";
export { type ImageLayout, imageLayout } from "./ops/_image.ts";
export { pixelBins, type Region, type RegionSettings, scaledRegions } from "./ops/_regions.ts";
export * from "./params.ts";
export * from "./registry.gen.ts";
export * from "./registry.ts";
export * from "./shape.ts";
export * from "./tensor.ts";
export * from "./window.ts";
export {
  type AnyExtents,
  depthwiseWork,
  type Extents,
  filterWork,
  recurrentWork,
  type Work,
  type WorkKind,
  workKinds,
} from "./work.ts";
export { workOf } from "./work-of.ts";
