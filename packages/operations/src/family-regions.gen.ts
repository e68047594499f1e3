// Generated from the files in ops/ by `npm run generate`; do not edit.
export { axisAlignedBboxTransform } from "./ops/axis-aligned-bbox-transform.ts";
export { detectionPostprocessing } from "./ops/detection-postprocessing.ts";
export { generateProposals } from "./ops/generate-proposals.ts";
export { heatmapMaxKeypoint } from "./ops/heatmap-max-keypoint.ts";
export { roiAlign } from "./ops/roi-align.ts";
export { roiPooling } from "./ops/roi-pooling.ts";
