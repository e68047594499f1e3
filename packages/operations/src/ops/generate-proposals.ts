/**
 * GENERATE_PROPOSALS: from scores and deltas of anchors on a grid to the best regions of each image. The document
 * specifies TENSOR_QUANT16_SYMM for the image sizes of the quantised form; the reference implementation and the vectors have
 * TENSOR_QUANT16_ASYMM. The number of results depends on the data.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, int32, scalar, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { resize } from "../tensor.ts";
import { imageAxes } from "../window.ts";
import { boxQuantisation, ensureBoxScale, ensureOrdered, hardKernel, suppress, transformBox } from "./_boxes.ts";
import { pacer } from "./_chunks.ts";
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
  *reference({ scores, deltas, anchors, imageSizes, nchw, ...settings }, out) {
    const { batches, height, width, batchStep: perImage } = imageLayout(scores.dimensions, nchw);
    const points = yield* channelsLast(yield* realValues(scores), scores.dimensions, nchw);
    const moves = yield* channelsLast(yield* realValues(deltas), deltas.dimensions, nchw);
    const sizes = yield* realValues(imageSizes);
    const grid = yield* anchorGrid(yield* realValues(anchors), height, width, settings);
    const boxes = new Float64Array(perImage * 4);
    const results: { readonly score: number; readonly box: readonly number[]; readonly batch: number }[] = [];
    const isTime = pacer();
    for (let batch = 0; batch < batches; batch++) {
      const [imageHeight, imageWidth] = sizes.subarray(2 * batch, 2 * batch + 2);
      const ofImage = points.subarray(batch * perImage, (batch + 1) * perImage);
      for (let box = 0; box < perImage; box++) {
        ensureOrdered(grid, 4 * box);
        transformBox(grid, 4 * box, moves, 4 * (batch * perImage + box), imageHeight, imageWidth, boxes, 4 * box);
        if (isTime(16)) yield;
      }
      const { mostBefore } = settings;
      const isLimited = mostBefore > 0 && mostBefore < perImage;
      const best = yield* greatest(
        perImage,
        isLimited ? mostBefore : 0,
        (a, b) => ofImage[a] > ofImage[b] || (ofImage[a] === ofImage[b] && a < b),
      );
      const candidates: number[] = [];
      for (let place = 0; place < (isLimited ? mostBefore : perImage); place++) {
        const box = isLimited ? best[place] : place;
        if (isLargeAndInside(boxes, 4 * box, settings.leastSize, imageHeight, imageWidth)) candidates.push(box);
        if (isTime(1)) yield;
      }
      const chosen = yield* suppress(candidates, {
        scores: ofImage,
        boxes,
        boxOf: (box) => 4 * box,
        kernel: hardKernel(settings.overlapThreshold),
        leastScore: undefined,
        most: settings.mostAfter > 0 ? settings.mostAfter : -1,
      });
      for (const box of chosen) {
        results.push({ score: ofImage[box], box: Array.from(boxes.subarray(4 * box, 4 * box + 4)), batch });
      }
    }
    resize(out.chosenScores, [results.length]);
    resize(out.regions, [results.length, 4]);
    resize(out.batches, [results.length]);
    results.forEach(({ score, box, batch }, index) => {
      storeReal(out.chosenScores, [score], index);
      storeReal(out.regions, box, 4 * index);
      out.batches.data[index] = batch;
    });
  },
});

/** The anchors at every place of the grid, in the order of the scores. */
function* anchorGrid(
  anchors: Float64Array,
  height: number,
  width: number,
  { heightStride, widthStride }: { readonly heightStride: number; readonly widthStride: number },
): Generator<void, Float64Array> {
  const isTime = pacer();
  const grid = new Float64Array(height * width * anchors.length);
  for (let index = 0; index < grid.length; index++) {
    const place = Math.floor(index / anchors.length);
    const [x, y] = [place % width, Math.floor(place / width)];
    const side = index % anchors.length;
    grid[index] = anchors[side] + (side % 2 === 0 ? x * widthStride : y * heightStride);
    if (isTime(1)) yield;
  }
  return grid;
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
