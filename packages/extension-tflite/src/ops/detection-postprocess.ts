/**
 * DETECTION_POSTPROCESS: the custom operator TFLite_Detection_PostProcess. It decodes boxes from anchors and chooses the best
 * detections. Unlike the HAL's DETECTION_POSTPROCESSING it has classes without a background, returns real numbers, keeps scores equal to
 * the threshold, and drops only boxes that overlap more than the threshold.
 */
import type { Tensor } from "@nnhal/operations";
import {
  bool,
  defineOperation,
  ensure,
  ensureShape,
  float32,
  int32,
  mayStayZero,
  tensor,
} from "@nnhal/operations/authoring";
import { realsOf } from "../_elements.ts";

const FLOAT32 = "TENSOR_FLOAT32";
const UINT8 = "TENSOR_QUANT8_ASYMM";

export const detectionPostprocess = defineOperation({
  name: "DETECTION_POSTPROCESS",
  code: 2000,
  summary: "Decodes boxes from anchors and chooses the best detections by non-maximum suppression.",
  params: [
    tensor("boxEncodings"),
    tensor("classPredictions"),
    tensor("anchors"),
    int32("maxDetections"),
    int32("maxClassesPerDetection"),
    int32("detectionsPerClass"),
    bool("useRegularNms"),
    float32("nmsScoreThreshold"),
    float32("nmsIouThreshold"),
    int32("numClasses"),
    float32("yScale"),
    float32("xScale"),
    float32("hScale"),
    float32("wScale"),
  ],
  outputs: [
    mayStayZero(tensor("detectionBoxes", FLOAT32)),
    mayStayZero(tensor("detectionClasses", FLOAT32)),
    mayStayZero(tensor("detectionScores", FLOAT32)),
    tensor("numDetections", FLOAT32),
  ],
  types: [
    ["1.2", FLOAT32, FLOAT32, FLOAT32],
    ["1.2", UINT8, UINT8, UINT8],
    ["1.2", FLOAT32, UINT8, FLOAT32],
    ["1.2", UINT8, FLOAT32, UINT8],
  ],
  ranks: { boxEncodings: 3, classPredictions: 3, anchors: 2 },
  infer({ boxEncodings, classPredictions, anchors, ...settings }) {
    const [batches, boxes, encoding] = boxEncodings.dimensions;
    const classes = classPredictions.dimensions[2];
    const { numClasses, maxDetections, maxClassesPerDetection, detectionsPerClass, nmsIouThreshold } = settings;
    const { yScale, xScale, hScale, wScale } = settings;
    ensure(batches === 1, () => `expected 1 batch, got ${batches}`);
    ensure(encoding >= 4, () => `a box encoding: expected 4 or more numbers, got ${encoding}`);
    ensureShape("the class predictions", classPredictions, [1, boxes, classes]);
    ensureShape("the anchors", anchors, [boxes, 4]);
    ensure(
      numClasses >= 1 && (classes === numClasses || classes === numClasses + 1),
      () => `numClasses is ${numClasses} where the predictions have ${classes}, of which one may be the background`,
    );
    for (const [name, value] of Object.entries({ maxDetections, maxClassesPerDetection, detectionsPerClass })) {
      ensure(value >= 1, () => `${name} is ${value}, less than 1`);
    }
    for (const [name, value] of Object.entries({ yScale, xScale, hScale, wScale })) {
      ensure(value > 0, () => `${name}: expected a number > 0, got ${value}`);
    }
    ensure(
      nmsIouThreshold > 0 && nmsIouThreshold <= 1,
      () => `nmsIouThreshold: expected a number above 0 and up to 1, got ${nmsIouThreshold}`,
    );
    const most = maxDetections * maxClassesPerDetection;
    return {
      detectionBoxes: { dimensions: [1, most, 4] },
      detectionClasses: { dimensions: [1, most] },
      detectionScores: { dimensions: [1, most] },
      numDetections: { dimensions: [1] },
    };
  },
  *reference({ boxEncodings, classPredictions, anchors, ...settings }, outputs) {
    const { detectionBoxes, detectionClasses, detectionScores, numDetections } = outputs;
    const boxes = decodeBoxes(boxEncodings, anchors, settings);
    yield;
    const classes = classPredictions.dimensions[2];
    const predictions: Predictions = {
      scores: realsOf(classPredictions),
      boxes,
      classes,
      background: classes - settings.numClasses,
    };
    const chosen = settings.useRegularNms
      ? yield* chooseRegular(predictions, settings)
      : yield* chooseFast(predictions, settings);
    for (const { box, label, score, place } of chosen.detections) {
      for (let side = 0; side < 4; side++) detectionBoxes.data[4 * place + side] = boxes[4 * box + side];
      detectionClasses.data[place] = label;
      detectionScores.data[place] = score;
    }
    numDetections.data[0] = chosen.count;
  },
});

interface Settings {
  readonly maxDetections: number;
  readonly maxClassesPerDetection: number;
  readonly detectionsPerClass: number;
  readonly nmsScoreThreshold: number;
  readonly nmsIouThreshold: number;
  readonly numClasses: number;
}

interface Scales {
  readonly yScale: number;
  readonly xScale: number;
  readonly hScale: number;
  readonly wScale: number;
}

interface Predictions {
  /** [boxes, classes] */
  readonly scores: Float64Array;
  /** Corners (y1, x1, y2, x2) of each box. */
  readonly boxes: Float32Array;
  readonly classes: number;
  /** Classes before the first that counts: 1 if there is a background, otherwise 0. */
  readonly background: number;
}

interface Detection {
  readonly box: number;
  /** The class, without the background. */
  readonly label: number;
  readonly score: number;
  /** Its place in the outputs. */
  readonly place: number;
}

interface Chosen {
  readonly detections: readonly Detection[];
  /** The count that the operator reports: of detections, or of boxes if each has several classes. */
  readonly count: number;
}

/** The corners of the boxes, as float32. Refuses a box without area. */
function decodeBoxes(
  encodings: Tensor,
  anchorTensor: Tensor,
  { yScale, xScale, hScale, wScale }: Scales,
): Float32Array {
  const deltas = realsOf(encodings);
  const anchors = realsOf(anchorTensor);
  const [, count, encoding] = encodings.dimensions;
  const boxes = new Float32Array(4 * count);
  for (let box = 0; box < count; box++) {
    const delta = box * encoding;
    const at = 4 * box;
    const [y, x, height, width] = anchors.subarray(at, at + 4);
    const centreY = Math.fround((deltas[delta] / yScale) * height + y);
    const centreX = Math.fround((deltas[delta + 1] / xScale) * width + x);
    const halfHeight = Math.fround(0.5 * Math.exp(deltas[delta + 2] / hScale) * height);
    const halfWidth = Math.fround(0.5 * Math.exp(deltas[delta + 3] / wScale) * width);
    boxes[at] = centreY - halfHeight;
    boxes[at + 1] = centreX - halfWidth;
    boxes[at + 2] = centreY + halfHeight;
    boxes[at + 3] = centreX + halfWidth;
    ensure(
      boxes[at] < boxes[at + 2] && boxes[at + 1] < boxes[at + 3],
      () => `box ${box} has no area: its corners are ${boxes.subarray(at, at + 4).join(", ")}`,
    );
  }
  return boxes;
}

/** Indexes below a count by falling score; among equal scores the first comes first. */
function byScore(indexes: number[], scoreOf: (index: number) => number): number[] {
  return indexes.sort((a, b) => scoreOf(b) - scoreOf(a));
}

/** Boxes by falling score, without those that overlap a better one too much. */
function* suppress(
  { boxes }: Predictions,
  scores: Float64Array,
  { nmsScoreThreshold, nmsIouThreshold }: Settings,
  most: number,
): Generator<void, number[]> {
  const kept: number[] = [];
  for (let box = 0; box < scores.length; box++) if (scores[box] >= nmsScoreThreshold) kept.push(box);
  byScore(kept, (box) => scores[box]);
  const chosen: number[] = [];
  let work = 0;
  for (const box of kept) {
    if (chosen.length >= most) break;
    if (chosen.every((better) => overlap(boxes, better, box) <= nmsIouThreshold)) chosen.push(box);
    work += chosen.length;
    if (work > 1 << 16) {
      work = 0;
      yield;
    }
  }
  return chosen;
}

/** Area of the intersection of two boxes over that of their union. */
function overlap(boxes: Float32Array, first: number, second: number): number {
  const [a, b] = [4 * first, 4 * second];
  const height = Math.min(boxes[a + 2], boxes[b + 2]) - Math.max(boxes[a], boxes[b]);
  const width = Math.min(boxes[a + 3], boxes[b + 3]) - Math.max(boxes[a + 1], boxes[b + 1]);
  if (height <= 0 || width <= 0) return 0;
  const areaOf = (at: number) => (boxes[at + 2] - boxes[at]) * (boxes[at + 3] - boxes[at + 1]);
  const shared = height * width;
  return shared / (areaOf(a) + areaOf(b) - shared);
}

/** Suppression in each class, then the best of all classes. */
function* chooseRegular(predictions: Predictions, settings: Settings): Generator<void, Chosen> {
  const { scores, classes, background } = predictions;
  const ofClass = new Float64Array(scores.length / classes);
  let best: Omit<Detection, "place">[] = [];
  // Without boxes there may be any number of classes.
  const labels = ofClass.length === 0 ? 0 : settings.numClasses;
  for (let label = 0; label < labels; label++) {
    for (let box = 0; box < ofClass.length; box++) ofClass[box] = scores[box * classes + label + background];
    const chosen = yield* suppress(predictions, ofClass, settings, settings.detectionsPerClass);
    const all = [...best, ...chosen.map((box) => ({ box, label, score: ofClass[box] }))];
    best = all.sort((a, b) => b.score - a.score).slice(0, settings.maxDetections);
    yield;
  }
  return { detections: best.map((each, place) => ({ ...each, place })), count: best.length };
}

/** Suppression by each box's best class; then the best few classes of every box that is left. */
function* chooseFast(predictions: Predictions, settings: Settings): Generator<void, Chosen> {
  const { scores, classes, background } = predictions;
  const { numClasses, maxDetections, maxClassesPerDetection } = settings;
  const best = new Float64Array(scores.length / classes).fill(Number.NEGATIVE_INFINITY);
  for (let box = 0; box < best.length; box++) {
    for (let label = background; label < classes; label++) {
      best[box] = Math.max(best[box], scores[box * classes + label]);
    }
    if (box % 1024 === 1023) yield;
  }
  const chosen = yield* suppress(predictions, best, settings, maxDetections);
  const detections = chosen.flatMap((box, index) => {
    const scoreOf = (label: number) => scores[box * classes + background + label];
    const labels = byScore(
      Array.from({ length: numClasses }, (_, label) => label),
      scoreOf,
    );
    // Places of classes that do not exist stay 0.
    return labels
      .slice(0, maxClassesPerDetection)
      .map((label, rank) => ({ box, label, score: scoreOf(label), place: index * maxClassesPerDetection + rank }));
  });
  return { detections, count: chosen.length };
}
