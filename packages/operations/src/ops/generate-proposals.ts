/**
 * GENERATE_PROPOSALS: from scores and deltas of anchors on a grid to the best regions of each image. The document
 * specifies TENSOR_QUANT16_SYMM for the image sizes of the quantised form; the reference implementation and the vectors have
 * TENSOR_QUANT16_ASYMM. The number of results depends on the data.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, int32, scalar, tensor } from "../params.ts";
import { type Filled, stepsInTurn } from "../phases.ts";
import { ensureShape } from "../shape.ts";
import { resize } from "../tensor.ts";
import { imageAxes } from "../window.ts";
import {
  boxQuantisation,
  choose,
  costOfChoice,
  ensureBoxScale,
  ensureOrdered,
  findChosen,
  hardKernel,
  type Suppressing,
  startSuppression,
  transformBox,
} from "./_boxes.ts";
import { greatest } from "./_greatest.ts";
import { channelsLast, imageLayout } from "./_image.ts";
import { realValues, storeReal } from "./_real.ts";

/** The columns of a row: scores and deltas have one type, image sizes and regions another. */
function typesOf(scores: OperandTypeName, anchors: OperandTypeName, sizes: OperandTypeName, number: OperandTypeName) {
  return [scores, scores, anchors, sizes, number, number, number, number, scores, sizes] as const;
}

export const generateProposals = defineOperation({
  name: "GENERATE_PROPOSALS",
  code: OperationType.GENERATE_PROPOSALS,
  summary: "Turns scores and deltas of anchors on a grid into the best regions of each image.",
  params: [
    tensor("scores"),
    tensor("deltas"),
    tensor("anchors"),
    tensor("imageSizes"),
    scalar("heightStride"),
    scalar("widthStride"),
    int32("mostBefore"),
    int32("mostAfter"),
    scalar("overlapThreshold"),
    scalar("leastSize"),
    bool("nchw"),
  ],
  outputs: [tensor("chosenScores"), tensor("regions"), tensor("batches", "TENSOR_INT32")],
  types: [
    ["1.2", ...typesOf("TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "FLOAT16")],
    ["1.2", ...typesOf("TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "FLOAT32")],
    ["1.2", ...typesOf("TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_ASYMM", "FLOAT32")],
    ["1.3", ...typesOf("TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_ASYMM", "FLOAT32")],
  ],
  ranks: { scores: 4, deltas: 4, anchors: 2, imageSizes: 2 },
  dynamic: true,
  infer({ scores, deltas, anchors, imageSizes, nchw }) {
    const { batches, channels: anchorCount } = imageLayout(scores.dimensions, nchw);
    const expected = [...scores.dimensions];
    expected[imageAxes(nchw).channel] = 4 * anchorCount;
    ensureShape("the deltas", deltas, expected);
    ensureShape("the anchors", anchors, [anchorCount, 4]);
    ensureShape("the image sizes", imageSizes, [batches, 2]);
    ensureBoxScale("the anchors", anchors);
    ensureBoxScale("the image sizes", imageSizes);
    const { scale, zeroPoint } = scores;
    return {
      chosenScores: { dimensions: [0], scale, zeroPoint },
      regions: { dimensions: [0, 4], ...boxQuantisation(imageSizes) },
      batches: { dimensions: [0] },
    };
  },
  reference({ scores, deltas, anchors, imageSizes, nchw, ...settings }, out) {
    const { batches, height, width, batchStep: perImage } = imageLayout(scores.dimensions, nchw);
    const points = channelsLast(realValues(scores), scores.dimensions, nchw);
    const moves = channelsLast(realValues(deltas), deltas.dimensions, nchw);
    const sizes = realValues(imageSizes);
    const corners = realValues(anchors);
    const grid = anchorGrid(corners.data, height, width, settings);
    const images = Array.from({ length: batches }, (_, batch) => {
      const image = sizes.data.subarray(2 * batch, 2 * batch + 2);
      const ofImage = points.data.subarray(batch * perImage, (batch + 1) * perImage);
      const ofMoves = moves.data.subarray(4 * batch * perImage, 4 * (batch + 1) * perImage);
      return proposalsOf(ofImage, ofMoves, grid.data, image, settings);
    });
    const write = () => {
      const results = images.flatMap(({ data: { boxes, scores, listChosen: chosen } }, batch) =>
        chosen().map((box) => ({ score: scores[box], box: boxes.subarray(4 * box, 4 * box + 4), batch })),
      );
      resize(out.chosenScores, [results.length]);
      resize(out.regions, [results.length, 4]);
      resize(out.batches, [results.length]);
      results.forEach(({ score, box, batch }, index) => {
        storeReal(out.chosenScores, [score], index);
        storeReal(out.regions, box, 4 * index);
        out.batches.data[index] = batch;
      });
    };
    return [
      ...points.phases,
      ...moves.phases,
      ...sizes.phases,
      ...corners.phases,
      ...grid.phases,
      ...images.flatMap(({ phases }) => phases),
      { units: 1, compute: write },
    ];
  },
});

interface Proposals {
  readonly boxes: Float64Array;
  readonly scores: Float64Array;
  /** The boxes that have been chosen. */
  readonly listChosen: () => number[];
}

/** The proposals of one image: anchors moved by their deltas, the best of them that are large enough, suppressed. */
function proposalsOf(
  scores: Float64Array,
  moves: Float64Array,
  grid: Float64Array,
  image: Float64Array,
  settings: {
    readonly mostBefore: number;
    readonly mostAfter: number;
    readonly overlapThreshold: number;
    readonly leastSize: number;
  },
): Filled<Proposals> {
  const { mostBefore, mostAfter, overlapThreshold, leastSize } = settings;
  const count = scores.length;
  const boxes = new Float64Array(4 * count);
  const move = (first: number, end: number) => {
    for (let at = 4 * first; at < 4 * end; at += 4) {
      ensureOrdered(grid, at);
      transformBox(grid, at, moves, at, image[0], image[1], boxes, at);
    }
  };
  const isLimited = mostBefore > 0 && mostBefore < count;
  const precedes = (a: number, b: number) => scores[a] > scores[b] || (scores[a] === scores[b] && a < b);
  const best = greatest(count, isLimited ? mostBefore : 0, precedes);
  const candidates: number[] = [];
  const filter = (first: number, end: number) => {
    for (let place = first; place < end; place++) {
      const box = isLimited ? best.data[place] : place;
      if (isLargeAndInside(boxes, 4 * box, leastSize, image[0], image[1])) candidates.push(box);
    }
  };
  let suppression: Suppressing | undefined;
  const suppress = () => {
    suppression ??= startSuppression(candidates, {
      scores,
      boxes,
      boxOf: (box) => 4 * box,
      kernel: hardKernel(overlapThreshold),
      leastScore: undefined,
      most: mostAfter > 0 ? mostAfter : -1,
    });
    return choose(suppression);
  };
  const places = isLimited ? mostBefore : count;
  return {
    data: { boxes, scores, listChosen: () => (suppression ? findChosen(suppression) : []) },
    phases: [
      { units: count, cost: 64, compute: move },
      ...best.phases,
      { units: places, cost: 8, inTurn: true, compute: filter },
      stepsInTurn(suppress, costOfChoice(places)),
    ],
  };
}

/** The anchors at every place of the grid, in the order of the scores. */
function anchorGrid(
  anchors: Float64Array,
  height: number,
  width: number,
  { heightStride, widthStride }: { readonly heightStride: number; readonly widthStride: number },
): Filled<Float64Array> {
  const grid = new Float64Array(height * width * anchors.length);
  const compute = (first: number, end: number) => {
    for (let index = first; index < end; index++) {
      const place = Math.floor(index / anchors.length);
      const side = index % anchors.length;
      const offset = side % 2 === 0 ? (place % width) * widthStride : Math.floor(place / width) * heightStride;
      grid[index] = anchors[side] + offset;
    }
  };
  return { data: grid, phases: [{ units: grid.length, cost: 8, compute }] };
}

/** Returns whether both sides of a box are longer than a size and its centre lies before the image's far borders. */
function isLargeAndInside(
  boxes: Float64Array,
  at: number,
  leastSize: number,
  imageHeight: number,
  imageWidth: number,
): boolean {
  const width = boxes[at + 2] - boxes[at];
  const height = boxes[at + 3] - boxes[at + 1];
  const isLarge = width > leastSize && height > leastSize;
  return isLarge && boxes[at] + width / 2 < imageWidth && boxes[at + 1] + height / 2 < imageHeight;
}
