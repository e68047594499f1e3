/**
 * DETECTION_POSTPROCESS: the custom operator TFLite_Detection_PostProcess. It decodes boxes from anchors and chooses the best
 * detections. Unlike the HAL's DETECTION_POSTPROCESSING it has classes without a background, returns real numbers, keeps scores equal to
 * the threshold, and drops only boxes that overlap more than the threshold.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, float32, int32, mayStayZero, tensor } from "../params.ts";
import { type Filled, type Phase, stepsInTurn } from "../phases.ts";
import { ensureShape } from "../shape.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { readerOf } from "./_elements.tflite.ts";
import { greatestOfRows } from "./_greatest.ts";
import { pop, push } from "./_suppression.tflite.ts";

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
  reference({ boxEncodings, classPredictions, anchors, ...settings }, outputs) {
    const boxes = decodeBoxes(boxEncodings, anchors, settings);
    const classes = classPredictions.dimensions[2];
    const predictions: Predictions = {
      scoreAt: readerOf(classPredictions),
      boxes: boxes.data,
      boxCount: boxes.data.length / 4,
      classes,
      background: classes - settings.numClasses,
    };
    const choose = settings.useRegularNms ? chooseRegular : chooseFast;
    return [...boxes.phases, ...choose(predictions, settings, outputs)];
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
  /** The score of a box and a class, [boxes, classes]. */
  readonly scoreAt: (index: number) => number;
  /** Corners (y1, x1, y2, x2) of each box. */
  readonly boxes: Float32Array;
  readonly boxCount: number;
  readonly classes: number;
  /** Classes before the first that counts: 1 if there is a background, otherwise 0. */
  readonly background: number;
}

interface Outputs {
  readonly detectionBoxes: OutputTensor;
  readonly detectionClasses: OutputTensor;
  readonly detectionScores: OutputTensor;
  /** The count that the operator reports: of detections, or of boxes if each has several classes. */
  readonly numDetections: OutputTensor;
}

interface Detection {
  readonly box: number;
  /** The class, without the background. */
  readonly label: number;
  readonly score: number;
}

/**
 * The corners of the boxes, as float32: with a box's anchor (y, x, height, width) and encoding (dy, dx, dh, dw), the centre is y + dy / yScale · height
 * and the height exp(dh / hScale) · height; so are x and the width. Refuses a box without area.
 */
function decodeBoxes(
  encodings: Tensor,
  anchorTensor: Tensor,
  { yScale, xScale, hScale, wScale }: Scales,
): Filled<Float32Array> {
  const delta = readerOf(encodings);
  const anchor = readerOf(anchorTensor);
  const [, count, encoding] = encodings.dimensions;
  const boxes = new Float32Array(4 * count);
  const compute = (first: number, end: number) => {
    for (let box = first; box < end; box++) {
      const from = box * encoding;
      const at = 4 * box;
      const [height, width] = [anchor(at + 2), anchor(at + 3)];
      const centreY = Math.fround((delta(from) / yScale) * height + anchor(at));
      const centreX = Math.fround((delta(from + 1) / xScale) * width + anchor(at + 1));
      const halfHeight = Math.fround(0.5 * Math.exp(delta(from + 2) / hScale) * height);
      const halfWidth = Math.fround(0.5 * Math.exp(delta(from + 3) / wScale) * width);
      boxes[at] = centreY - halfHeight;
      boxes[at + 1] = centreX - halfWidth;
      boxes[at + 2] = centreY + halfHeight;
      boxes[at + 3] = centreX + halfWidth;
      ensure(
        boxes[at] < boxes[at + 2] && boxes[at + 1] < boxes[at + 3],
        () => `box ${box} has no area: its corners are ${boxes.subarray(at, at + 4).join(", ")}`,
      );
    }
  };
  return { data: boxes, phases: [{ units: count, cost: 64, compute }] };
}

/** Writes a detection to its place in the outputs. */
function write(boxes: Float32Array, { box, label, score }: Detection, place: number, outputs: Outputs): void {
  for (let side = 0; side < 4; side++) outputs.detectionBoxes.data[4 * place + side] = boxes[4 * box + side];
  outputs.detectionClasses.data[place] = label;
  outputs.detectionScores.data[place] = score;
}

/** The cost of a step that compares two boxes, or takes one from a heap. */
const costOfComparison = 32;

/** Boxes by falling score, without those that overlap a better one too much. */
interface Suppression {
  readonly chosen: readonly number[];
  /** Adds a box, unless its score is below the threshold. */
  add(box: number): void;
  /** Takes the best box that is left, compares it with one better box, or chooses it; returns false if none is to be chosen. */
  step(): boolean;
}

function createSuppression(
  boxes: Float32Array,
  scores: Float64Array,
  { nmsScoreThreshold, nmsIouThreshold }: Settings,
  most: number,
): Suppression {
  const heap: number[] = [];
  const chosen: number[] = [];
  let box: number | undefined;
  let compared = 0;
  return {
    chosen,
    add(added) {
      if (scores[added] >= nmsScoreThreshold) push(heap, scores, added);
    },
    step() {
      if (box === undefined) {
        box = chosen.length < most ? pop(heap, scores) : undefined;
        compared = 0;
        return box !== undefined;
      }
      if (compared === chosen.length) chosen.push(box);
      else if (overlap(boxes, chosen[compared++], box) <= nmsIouThreshold) return true;
      box = undefined;
      return true;
    },
  };
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
function chooseRegular(predictions: Predictions, settings: Settings, outputs: Outputs): Phase[] {
  const { scoreAt, boxes, boxCount, classes, background } = predictions;
  // Without boxes there may be any number of classes.
  const labels = boxCount === 0 ? 0 : settings.numClasses;
  const scores = new Float64Array(boxCount);
  const start = () => createSuppression(boxes, scores, settings, settings.detectionsPerClass);
  let best: Detection[] = [];
  let merged: Detection[] = [];
  let label = 0;
  let box = 0;
  let ofClass = start();
  let taken = 0;
  /** Adds a box of the class, chooses among them, or merges one detection with those of the classes before. */
  const step = () => {
    if (label === labels) return false;
    if (box < boxCount) {
      scores[box] = scoreAt(box * classes + label + background);
      ofClass.add(box++);
      return true;
    }
    if (ofClass.step()) return true;
    const next: number | undefined = ofClass.chosen[taken];
    const earlier: Detection | undefined = best[merged.length - taken];
    const isNext = next !== undefined && !(earlier?.score >= scores[next]);
    if ((isNext || earlier !== undefined) && merged.length < settings.maxDetections) {
      merged.push(isNext ? { box: next, label, score: scores[next] } : earlier);
      if (isNext) taken++;
      return true;
    }
    [best, merged, taken, box, ofClass] = [merged, [], 0, 0, start()];
    label++;
    return true;
  };
  return [
    stepsInTurn(step, costOfComparison),
    {
      get units() {
        return best.length;
      },
      cost: 32,
      compute(first, end) {
        for (let place = first; place < end; place++) write(boxes, best[place], place, outputs);
      },
    },
    { units: 1, compute: () => outputs.numDetections.data.fill(best.length) },
  ];
}

/** Suppression by each box's best class; then the best few classes of every box that is left. */
function chooseFast(predictions: Predictions, settings: Settings, outputs: Outputs): Phase[] {
  const { scoreAt, boxes, boxCount, classes, background } = predictions;
  const { numClasses, maxDetections, maxClassesPerDetection } = settings;
  const best = new Float64Array(boxCount).fill(Number.NEGATIVE_INFINITY);
  const findBest = (first: number, end: number) => {
    for (let index = first; index < end; index++) {
      const box = Math.floor(index / classes);
      if (index % classes >= background) best[box] = Math.max(best[box], scoreAt(index));
    }
  };
  const suppression = createSuppression(boxes, best, settings, maxDetections);
  const { chosen } = suppression;
  const add = (first: number, end: number) => {
    for (let box = first; box < end; box++) suppression.add(box);
  };
  const scoreOf = (place: number, label: number) => scoreAt(chosen[place] * classes + background + label);
  const scoreOfIndex = (index: number) => scoreOf(Math.floor(index / numClasses), index % numClasses);
  const precedes = (a: number, b: number) => {
    const [score, other] = [scoreOfIndex(a), scoreOfIndex(b)];
    return score === other ? a < b : score > other;
  };
  // Places of classes that do not exist stay 0.
  const perBox = Math.min(numClasses, maxClassesPerDetection);
  const ofBox = greatestOfRows(1, numClasses, perBox, precedes, (place, labels) => {
    labels.forEach((label, rank) => {
      const detection = { box: chosen[place], label, score: scoreOf(place, label) };
      write(boxes, detection, place * maxClassesPerDetection + rank, outputs);
    });
  });
  return [
    { units: boxCount * classes, cost: 8, inTurn: true, compute: findBest },
    { units: boxCount, cost: 64, inTurn: true, compute: add },
    stepsInTurn(suppression.step, costOfComparison),
    {
      ...ofBox,
      get units() {
        return chosen.length * ofBox.units;
      },
    },
    { units: 1, compute: () => outputs.numDetections.data.fill(chosen.length) },
  ];
}
