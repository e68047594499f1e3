/**
 * Plausible operands of the detection operations: boxes that end after they begin and lie in their image.
 */
import type { Draw, Plausible, WantedTensor } from "../wanted.ts";

/** The scale of boxes that are integers. */
const BOX_SCALE = 0.125;

/** The side of the square that boxes lie in. */
const SIDE = 16;

/** Boxes of two corners, `perRow` in each row. */
function boxes(draw: Draw, rows: number, perRow = 1): WantedTensor {
  const reals: number[] = [];
  for (let box = 0; box < rows * perRow; box++) {
    const [x1, y1] = [draw.integer(0, SIDE), draw.integer(0, SIDE)];
    reals.push(x1, y1, draw.integer(x1, SIDE), draw.integer(y1, SIDE));
  }
  return { dimensions: [rows, 4 * perRow], reals, scale: BOX_SCALE, zeroPoint: 0 };
}

/** Batch indexes in ascending order. */
function batchIndexes(draw: Draw, count: number, batches: number): WantedTensor {
  const values = Array.from({ length: count }, () => draw.integer(0, batches - 1)).sort((a, b) => a - b);
  return { dimensions: [count], values };
}

/** Sizes of images, all with the same side. */
function imageSizes(batches: number): WantedTensor {
  const reals = new Array<number>(2 * batches).fill(SIDE);
  return { dimensions: [batches, 2], reals, scale: BOX_SCALE, zeroPoint: 0 };
}

const regions: Plausible = (draw) => {
  const nchw = draw.chance(0.5);
  const [batches, channels] = [draw.integer(1, 2), draw.integer(1, 3)];
  // The feature map covers the square at the given strides.
  const stride = draw.pick([1, 2, 4]);
  const side = SIDE / stride;
  const count = draw.integer(0, 3);
  return {
    input: { dimensions: nchw ? [batches, channels, side, side] : [batches, side, side, channels] },
    regions: boxes(draw, count),
    batches: batchIndexes(draw, count, batches),
    outputHeight: draw.integer(1, 3),
    outputWidth: draw.integer(1, 3),
    heightStride: stride,
    widthStride: stride,
    heightSamples: draw.integer(0, 3),
    widthSamples: draw.integer(0, 3),
    nchw,
  };
};

export const detectionHints: Readonly<Record<string, Plausible>> = {
  ROI_ALIGN: regions,
  ROI_POOLING: regions,
  AXIS_ALIGNED_BBOX_TRANSFORM(draw) {
    const [count, classes, batches] = [draw.integer(0, 4), draw.integer(1, 3), draw.integer(1, 2)];
    return {
      regions: boxes(draw, count),
      deltas: { dimensions: [count, 4 * classes] },
      batches: batchIndexes(draw, count, batches),
      imageSizes: imageSizes(batches),
    };
  },
  BOX_WITH_NMS_LIMIT(draw) {
    const [count, classes] = [draw.integer(0, 6), draw.integer(2, 4)];
    return {
      scores: { dimensions: [count, classes] },
      boxes: boxes(draw, count, classes),
      batches: batchIndexes(draw, count, 2),
      scoreThreshold: draw.pick([-1, 0, 0.5]),
      most: draw.integer(-1, 5),
      kernel: draw.integer(0, 2),
      overlapThreshold: draw.pick([0.1, 0.5]),
      sigma: draw.pick([0.5, 1]),
      leastScore: draw.pick([0, 0.1]),
    };
  },
  DETECTION_POSTPROCESSING(draw) {
    const [batches, anchors, classes] = [draw.integer(1, 2), draw.integer(0, 5), draw.integer(2, 4)];
    const scale = () => draw.pick([1, 5, 10]);
    const reals = Array.from({ length: 4 * anchors }, () => draw.integer(1, 8) / 4);
    return {
      scores: { dimensions: [batches, anchors, classes] },
      deltas: { dimensions: [batches, anchors, draw.integer(4, 6)] },
      anchors: { dimensions: [anchors, 4], reals },
      scaleY: scale(),
      scaleX: scale(),
      scaleHeight: scale(),
      scaleWidth: scale(),
      most: draw.integer(1, 4),
      mostClassesPerDetection: draw.integer(1, 4),
      mostPerClass: draw.integer(1, 4),
      scoreThreshold: draw.pick([0, 0.5]),
      overlapThreshold: draw.pick([0, 0.3, 0.6]),
    };
  },
  GENERATE_PROPOSALS(draw) {
    const nchw = draw.chance(0.5);
    const one = () => draw.integer(1, 3);
    const [batches, height, width, anchors] = [one(), one(), one(), one()];
    const image = (channels: number) =>
      nchw ? [batches, channels, height, width] : [batches, height, width, channels];
    return {
      scores: { dimensions: image(anchors) },
      deltas: { dimensions: image(4 * anchors) },
      anchors: boxes(draw, anchors),
      imageSizes: imageSizes(batches),
      heightStride: draw.pick([1, 4]),
      widthStride: draw.pick([1, 4]),
      mostBefore: draw.integer(-1, 6),
      mostAfter: draw.integer(-1, 6),
      overlapThreshold: draw.pick([0.3, 0.7]),
      leastSize: draw.pick([0, 1]),
      nchw,
    };
  },
  HEATMAP_MAX_KEYPOINT(draw) {
    const nchw = draw.chance(0.5);
    const [count, size, keypoints] = [draw.integer(0, 3), draw.integer(2, 5), draw.integer(1, 3)];
    return {
      heatmaps: { dimensions: nchw ? [count, keypoints, size, size] : [count, size, size, keypoints] },
      boxes: boxes(draw, count),
      nchw,
    };
  },
};
