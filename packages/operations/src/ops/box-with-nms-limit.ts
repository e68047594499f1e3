/**
 * BOX_WITH_NMS_LIMIT: chooses the best boxes of each class, suppressing those that overlap a better one. Boxes of one
 * batch are adjacent. The number of results depends on the data.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure, OperationError } from "../fail.ts";
import { int32, scalar, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { resize, type TensorData } from "../tensor.ts";
import { boxQuantisation, ensureBoxScale, ensureOrdered, suppressClasses } from "./_boxes.ts";
import { realValues, storeReal } from "./_real.ts";

/** The columns of a row: inputs and outputs have the same types. */
function typesOf(scores: OperandTypeName, boxes: OperandTypeName, number: OperandTypeName) {
  return [scores, boxes, number, number, number, number, scores, boxes] as const;
}

export const boxWithNmsLimit = defineOperation({
  name: "BOX_WITH_NMS_LIMIT",
  code: OperationType.BOX_WITH_NMS_LIMIT,
  summary: "Chooses the best boxes of each class by hard or soft non-maximum suppression.",
  params: [
    tensor("scores"),
    tensor("boxes"),
    tensor("batches", "TENSOR_INT32"),
    scalar("scoreThreshold"),
    int32("most"),
    int32("kernel"),
    scalar("overlapThreshold"),
    scalar("sigma"),
    scalar("leastScore"),
  ],
  outputs: [
    tensor("chosenScores"),
    tensor("chosenBoxes"),
    tensor("chosenClasses", "TENSOR_INT32"),
    tensor("chosenBatches", "TENSOR_INT32"),
  ],
  types: [
    ["1.2", ...typesOf("TENSOR_FLOAT16", "TENSOR_FLOAT16", "FLOAT16")],
    ["1.2", ...typesOf("TENSOR_FLOAT32", "TENSOR_FLOAT32", "FLOAT32")],
    ["1.2", ...typesOf("TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_ASYMM", "FLOAT32")],
    ["1.3", ...typesOf("TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_ASYMM", "FLOAT32")],
  ],
  ranks: { scores: 2, boxes: 2, batches: 1 },
  dynamic: true,
  infer({ scores, boxes, batches }) {
    const [count, classes] = scores.dimensions;
    ensure(classes > 1, () => `expected at least 2 classes (the first is the background), got ${classes}`);
    ensureShape("the boxes", boxes, [count, 4 * classes]);
    ensureShape("the batch indexes", batches, [count]);
    ensureBoxScale("the boxes", boxes);
    const { scale, zeroPoint } = scores;
    return {
      chosenScores: { dimensions: [0], scale, zeroPoint },
      chosenBoxes: { dimensions: [0, 4], ...boxQuantisation(boxes) },
      chosenClasses: { dimensions: [0] },
      chosenBatches: { dimensions: [0] },
    };
  },
  reference({ scores, boxes, batches, scoreThreshold, most, ...settings }, out) {
    const kernel = kernelOf(settings);
    const corners = realValues(boxes);
    const points = realValues(scores);
    const [count, classes] = scores.dimensions;
    const check = (first: number, end: number) => {
      for (let box = first; box < end; box++) ensureOrdered(corners.data, 4 * box);
    };
    const ofBatches = runsOf(batches.data).map(({ start, end, value }) => {
      const offset = start * classes;
      const { data, phases } = suppressClasses(end - start, classes, scoreThreshold, most, {
        scores: points.data.subarray(offset, end * classes),
        boxes: corners.data,
        boxOf: (candidate) => 4 * (offset + candidate),
        kernel,
        leastScore: settings.leastScore,
        most,
      });
      return { chosen: data, phases, offset, batch: value };
    });
    const write = () => {
      // By class, and within a class by falling score, the order that suppressClasses returns.
      const chosen = ofBatches.flatMap(({ chosen, offset, batch }) =>
        chosen
          .sort((a, b) => (a % classes) - (b % classes))
          .map((candidate) => ({ candidate: offset + candidate, batch })),
      );
      const { chosenScores, chosenBoxes, chosenClasses, chosenBatches } = out;
      for (const output of [chosenScores, chosenClasses, chosenBatches]) resize(output, [chosen.length]);
      resize(chosenBoxes, [chosen.length, 4]);
      chosen.forEach(({ candidate, batch }, index) => {
        storeReal(chosenScores, [points.data[candidate]], index);
        chosenBoxes.data.set(boxes.data.subarray(4 * candidate, 4 * candidate + 4), 4 * index);
        chosenClasses.data[index] = candidate % classes;
        chosenBatches.data[index] = batch;
      });
    };
    return [
      ...corners.phases,
      ...points.phases,
      { units: count * classes, compute: check },
      ...ofBatches.flatMap(({ phases }) => phases),
      { units: 1, compute: write },
    ];
  },
});

/** The runs of equal elements. */
function runsOf(data: TensorData): { readonly start: number; readonly end: number; readonly value: number }[] {
  const runs: { start: number; end: number; value: number }[] = [];
  for (let start = 0, end = 0; start < data.length; start = end) {
    while (end < data.length && data[end] === data[start]) end++;
    runs.push({ start, end, value: data[start] });
  }
  return runs;
}

/** Returns the factor of a score by overlap. `kernel`: 0 hard, 1 linear, 2 Gaussian. */
function kernelOf(settings: {
  readonly kernel: number;
  readonly overlapThreshold: number;
  readonly sigma: number;
}): (overlap: number) => number {
  const { kernel, overlapThreshold, sigma } = settings;
  switch (kernel) {
    case 0:
      return (overlap) => (overlap < overlapThreshold ? 1 : 0);
    case 1:
      return (overlap) => (overlap < overlapThreshold ? 1 : 1 - overlap);
    case 2:
      return (overlap) => Math.exp((-overlap * overlap) / sigma);
    default:
      throw new OperationError(`kernel ${kernel} is none of hard 0, linear 1, Gaussian 2`);
  }
}
