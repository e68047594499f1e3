/**
 * DETECTION_POSTPROCESSING: decodes anchors (centre y, centre x, height, width) and chooses the best detections.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, mayStayZero, scalar, tensor } from "../params.ts";
import { type Filled, type Phase, stepsInTurn } from "../phases.ts";
import { ensureShape } from "../shape.ts";
import { choose, costOfChoice, hardKernel, type Suppressing, startSuppression, suppressClasses } from "./_boxes.ts";
import { greatestNow } from "./_greatest.ts";
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
  reference({ scores, deltas, anchors, ...settings }, { chosenScores, chosenBoxes, chosenClasses, counts }) {
    const [batches, anchorCount, classes] = scores.dimensions;
    const detections = chosenScores.dimensions[1];
    const points = realValues(scores);
    const firstLabel = settings.isBackgroundInLabel ? 0 : 1;
    const detect = settings.useRegularNms ? chooseRegular : chooseFast;
    const ofBatch = (batch: number): Phase[] => {
      const boxes = decodeBoxes(anchors.data, deltas.data, deltas.dimensions[2], batch * anchorCount, settings);
      const ofScores = points.data.subarray(batch * anchorCount * classes, (batch + 1) * anchorCount * classes);
      const chosen = detect(ofScores, boxes.data, anchorCount, classes, settings);
      const write = () => {
        chosen.data.forEach((candidate, index) => {
          const at = batch * detections + index;
          const box = Math.floor(candidate / classes);
          chosenScores.data[at] = ofScores[candidate];
          chosenBoxes.data.set(boxes.data.subarray(4 * box, 4 * box + 4), 4 * at);
          chosenClasses.data[at] = (candidate % classes) - firstLabel;
        });
        counts.data[batch] = chosen.data.length;
      };
      return [...boxes.phases, ...chosen.phases, { units: 1, cost: 16 * detections, compute: write }];
    };
    return [...points.phases, ...Array.from({ length: batches }, (_, batch) => ofBatch(batch)).flat()];
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
function decodeBoxes(
  anchors: ArrayLike<number>,
  deltas: ArrayLike<number>,
  encoding: number,
  firstDelta: number,
  { scaleY, scaleX, scaleHeight, scaleWidth }: Settings,
): Filled<Float64Array> {
  const boxes = new Float64Array(anchors.length);
  const compute = (first: number, end: number) => {
    for (let anchor = first; anchor < end; anchor++) {
      const at = 4 * anchor;
      const delta = (firstDelta + anchor) * encoding;
      const centreY = anchors[at] + (anchors[at + 2] * deltas[delta]) / scaleY;
      const centreX = anchors[at + 1] + (anchors[at + 3] * deltas[delta + 1]) / scaleX;
      const halfHeight = (anchors[at + 2] * Math.exp(deltas[delta + 2] / scaleHeight)) / 2;
      const halfWidth = (anchors[at + 3] * Math.exp(deltas[delta + 3] / scaleWidth)) / 2;
      boxes[at] = centreY - halfHeight;
      boxes[at + 1] = centreX - halfWidth;
      boxes[at + 2] = centreY + halfHeight;
      boxes[at + 3] = centreX + halfWidth;
    }
  };
  return { data: boxes, phases: [{ units: anchors.length / 4, cost: 64, compute }] };
}

/** Suppression in every class. */
function chooseRegular(
  scores: Float64Array,
  boxes: Float64Array,
  anchorCount: number,
  classes: number,
  { most, mostPerClass, overlapThreshold, scoreThreshold }: Settings,
): Filled<number[]> {
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
function chooseFast(
  scores: Float64Array,
  boxes: Float64Array,
  anchorCount: number,
  classes: number,
  { most, mostClassesPerDetection, overlapThreshold, scoreThreshold }: Settings,
): Filled<number[]> {
  const best = new Float64Array(anchorCount).fill(Number.NEGATIVE_INFINITY);
  const findBest = (first: number, end: number) => {
    for (let box = first; box < end; box++) {
      for (let label = 1; label < classes; label++) best[box] = Math.max(best[box], scores[box * classes + label]);
    }
  };
  let suppression: Suppressing | undefined;
  const start = () => {
    const candidates = Array.from({ length: anchorCount }, (_, box) => box).filter((box) => best[box] > scoreThreshold);
    return startSuppression(candidates, {
      scores: best,
      boxes,
      boxOf: (box) => 4 * box,
      kernel: hardKernel(overlapThreshold),
      leastScore: undefined,
      most,
      keepsOrder: true,
    });
  };
  const suppress = () => {
    suppression ??= start();
    return choose(suppression);
  };
  const perBox = Math.min(classes - 1, mostClassesPerDetection);
  const detections: number[] = [];
  let taken = 0;
  const takeClasses = () => {
    if (!suppression || taken === suppression.chosen) return false;
    const first = suppression.candidates[taken++] * classes + 1;
    const score = (label: number) => scores[first + label];
    const precedes = (a: number, b: number) => score(a) > score(b) || (score(a) === score(b) && a < b);
    for (const label of greatestNow(classes - 1, perBox, precedes)) detections.push(first + label);
    return true;
  };
  return {
    data: detections,
    phases: [
      { units: anchorCount, cost: 4 * classes, compute: findBest },
      stepsInTurn(suppress, costOfChoice(anchorCount)),
      stepsInTurn(takeClasses, 8 * classes),
    ],
  };
}
