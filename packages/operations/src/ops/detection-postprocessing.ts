/**
 * DETECTION_POSTPROCESSING: decodes anchors (centre y, centre x, height, width) and chooses the best detections.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, mayStayZero, scalar, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { hardKernel, suppress, suppressClasses } from "./_boxes.ts";
import { pacer } from "./_chunks.ts";
import { greatest } from "./_greatest.ts";
import { realValues } from "./_real.ts";

export const detectionPostprocessing = defineOperation({
  name: "DETECTION_POSTPROCESSING",
  code: OperationType.DETECTION_POSTPROCESSING,
  summary: "Decodes boxes from anchors and chooses the best detections by non-maximum suppression.",
  params: [
    tensor("scores"),
    tensor("deltas"),
    tensor("anchors"),
    scalar("scaleY"),
    scalar("scaleX"),
    scalar("scaleHeight"),
    scalar("scaleWidth"),
    bool("useRegularNms"),
    int32("most"),
    int32("mostClassesPerDetection"),
    int32("mostPerClass"),
    scalar("scoreThreshold"),
    scalar("overlapThreshold"),
    bool("isBackgroundInLabel"),
  ],
  outputs: [
    mayStayZero(tensor("chosenScores")),
    mayStayZero(tensor("chosenBoxes")),
    mayStayZero(tensor("chosenClasses", "TENSOR_INT32")),
    tensor("counts", "TENSOR_INT32"),
  ],
  types: (["FLOAT16", "FLOAT32"] as const).map((type) => {
    const tensorType = `TENSOR_${type}` as const;
    return [
      "1.2",
      tensorType,
      tensorType,
      tensorType,
      type,
      type,
      type,
      type,
      type,
      type,
      tensorType,
      tensorType,
    ] as const;
  }),
  ranks: { scores: 3, deltas: 3, anchors: 2 },
  infer({ scores, deltas, anchors, ...settings }) {
    const [batches, anchorCount, classes] = scores.dimensions;
    const { scaleY, scaleX, scaleHeight, scaleWidth, most, mostClassesPerDetection, mostPerClass } = settings;
    ensure(classes > 1, () => `expected at least 2 classes (the first is the background), got ${classes}`);
    ensure(deltas.dimensions[2] >= 4, () => `a box encoding: expected 4 or more numbers, got ${deltas.dimensions[2]}`);
    ensureShape("the deltas", deltas, [batches, anchorCount, deltas.dimensions[2]]);
    ensureShape("the anchors", anchors, [anchorCount, 4]);
    for (const [name, value] of Object.entries({ scaleY, scaleX, scaleHeight, scaleWidth, most })) {
      ensure(value > 0, () => `${name}: expected a number > 0, got ${value}`);
    }
    const { overlapThreshold, scoreThreshold } = settings;
    for (const [name, value] of Object.entries({ overlapThreshold, scoreThreshold })) {
      ensure(value >= 0, () => `${name}: expected a number ≥ 0, got ${value}`);
    }
    const limit = settings.useRegularNms ? mostPerClass : mostClassesPerDetection;
    ensure(limit > 0, () => `the most per class or classes per detection: expected a number > 0, got ${limit}`);
    const detections = settings.useRegularNms ? most : most * mostClassesPerDetection;
    return {
      chosenScores: { dimensions: [batches, detections] },
      chosenBoxes: { dimensions: [batches, detections, 4] },
      chosenClasses: { dimensions: [batches, detections] },
      counts: { dimensions: [batches] },
    };
  },
  *reference({ scores, deltas, anchors, ...settings }, { chosenScores, chosenBoxes, chosenClasses, counts }) {
    const [batches, anchorCount, classes] = scores.dimensions;
    const detections = chosenScores.dimensions[1];
    const points = yield* realValues(scores);
    for (let batch = 0; batch < batches; batch++) {
      const boxes = yield* decodeBoxes(anchors.data, deltas.data, deltas.dimensions[2], batch * anchorCount, settings);
      const ofBatch = points.subarray(batch * anchorCount * classes, (batch + 1) * anchorCount * classes);
      const chosen = settings.useRegularNms
        ? yield* chooseRegular(ofBatch, boxes, anchorCount, classes, settings)
        : yield* chooseFast(ofBatch, boxes, anchorCount, classes, settings);
      const firstLabel = settings.isBackgroundInLabel ? 0 : 1;
      chosen.forEach((candidate, index) => {
        const at = batch * detections + index;
        const box = Math.floor(candidate / classes);
        chosenScores.data[at] = ofBatch[candidate];
        chosenBoxes.data.set(boxes.subarray(4 * box, 4 * box + 4), 4 * at);
        chosenClasses.data[at] = (candidate % classes) - firstLabel;
      });
      counts.data[batch] = chosen.length;
    }
  },
});

interface Settings {
  readonly scaleY: number;
  readonly scaleX: number;
  readonly scaleHeight: number;
  readonly scaleWidth: number;
  readonly most: number;
  readonly mostClassesPerDetection: number;
  readonly mostPerClass: number;
  readonly overlapThreshold: number;
  readonly scoreThreshold: number;
}

/** Corners (y1, x1, y2, x2) of the anchors of one batch moved by its deltas. */
function* decodeBoxes(
  anchors: ArrayLike<number>,
  deltas: ArrayLike<number>,
  encoding: number,
  first: number,
  { scaleY, scaleX, scaleHeight, scaleWidth }: Settings,
): Generator<void, Float64Array> {
  const isTime = pacer();
  const boxes = new Float64Array(anchors.length);
  for (let at = 0; at < anchors.length; at += 4) {
    const delta = (first + at / 4) * encoding;
    const centreY = anchors[at] + (anchors[at + 2] * deltas[delta]) / scaleY;
    const centreX = anchors[at + 1] + (anchors[at + 3] * deltas[delta + 1]) / scaleX;
    const halfHeight = (anchors[at + 2] * Math.exp(deltas[delta + 2] / scaleHeight)) / 2;
    const halfWidth = (anchors[at + 3] * Math.exp(deltas[delta + 3] / scaleWidth)) / 2;
    boxes[at] = centreY - halfHeight;
    boxes[at + 1] = centreX - halfWidth;
    boxes[at + 2] = centreY + halfHeight;
    boxes[at + 3] = centreX + halfWidth;
    if (isTime(16)) yield;
  }
  return boxes;
}

/** Suppression in every class. */
function chooseRegular(
  scores: Float64Array,
  boxes: Float64Array,
  anchorCount: number,
  classes: number,
  { most, mostPerClass, overlapThreshold, scoreThreshold }: Settings,
): Generator<void, number[]> {
  return suppressClasses(anchorCount, classes, scoreThreshold, mostPerClass, {
    scores,
    boxes,
    boxOf: (candidate) => 4 * Math.floor(candidate / classes),
    kernel: hardKernel(overlapThreshold),
    leastScore: undefined,
    most,
    keepsOrder: true,
  });
}

/** Suppression by each box's best class; then the best few classes of every box that is left. */
function* chooseFast(
  scores: Float64Array,
  boxes: Float64Array,
  anchorCount: number,
  classes: number,
  { most, mostClassesPerDetection, overlapThreshold, scoreThreshold }: Settings,
): Generator<void, number[]> {
  const best = new Float64Array(anchorCount).fill(Number.NEGATIVE_INFINITY);
  const isTime = pacer();
  for (let box = 0; box < anchorCount; box++) {
    for (let label = 1; label < classes; label++) {
      best[box] = Math.max(best[box], scores[box * classes + label]);
      if (isTime(1)) yield;
    }
  }
  const candidates = Array.from({ length: anchorCount }, (_, box) => box).filter((box) => best[box] > scoreThreshold);
  const chosen = yield* suppress(candidates, {
    scores: best,
    boxes,
    boxOf: (box) => 4 * box,
    kernel: hardKernel(overlapThreshold),
    leastScore: undefined,
    most,
    keepsOrder: true,
  });
  const perBox = Math.min(classes - 1, mostClassesPerDetection);
  const detections: number[] = [];
  for (const box of chosen) {
    const first = box * classes + 1;
    const score = (label: number) => scores[first + label];
    const best = yield* greatest(
      classes - 1,
      perBox,
      (a, b) => score(a) > score(b) || (score(a) === score(b) && a < b),
    );
    for (const label of best) detections.push(first + label);
    if (isTime(classes)) yield;
  }
  return detections;
}
