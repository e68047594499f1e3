/**
 * HEATMAP_MAX_KEYPOINT: for each box and keypoint the place of the greatest value in a square heatmap, refined between
 * the pixels by a quadratic through its neighbours.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { boxQuantisation, ensureBoxScale, ensureOrdered } from "./_boxes.ts";
import { imageLayout } from "./_image.ts";
import { realValues, storeReal } from "./_real.ts";

export const heatmapMaxKeypoint = defineOperation({
  name: "HEATMAP_MAX_KEYPOINT",
  code: OperationType.HEATMAP_MAX_KEYPOINT,
  summary: "Finds the keypoints of boxes: the places of the greatest values in their heatmaps.",
  params: [tensor("heatmaps"), tensor("boxes"), bool("nchw")],
  outputs: [tensor("scores"), tensor("keypoints")],
  types: [
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_ASYMM"],
  ],
  ranks: { heatmaps: 4, boxes: 2 },
  infer({ heatmaps, boxes, nchw }) {
    const { batches: count, height, width, channels: keypoints } = imageLayout(heatmaps.dimensions, nchw);
    ensure(
      height >= 2 && width === height,
      () => `the heatmaps: expected squares of 2x2 or more, got ${height}x${width}`,
    );
    ensureShape("the boxes", boxes, [count, 4]);
    ensureBoxScale("the boxes", boxes);
    return {
      scores: { dimensions: [count, keypoints] },
      keypoints: { dimensions: [count, keypoints, 2], ...boxQuantisation(boxes) },
    };
  },
  reference({ heatmaps, boxes, nchw }, { scores, keypoints }) {
    const { height: size, channels, batchStep, pixelStep, channelStep } = imageLayout(heatmaps.dimensions, nchw);
    const values = realValues(heatmaps);
    const corners = realValues(boxes);
    const compute = (first: number, end: number) => {
      const heatmap = new Float64Array(size * size);
      for (let index = first; index < end; index++) {
        const [box, keypoint] = [Math.floor(index / channels), index % channels];
        ensureOrdered(corners.data, 4 * box);
        const [x1, y1, x2, y2] = corners.data.subarray(4 * box, 4 * box + 4);
        const start = box * batchStep + keypoint * channelStep;
        for (let pixel = 0; pixel < heatmap.length; pixel++) heatmap[pixel] = values.data[start + pixel * pixelStep];
        const { score, x, y } = refineMaximum(heatmap, size, placeOfMaximum(heatmap));
        storeReal(scores, [score], index);
        const place = [((x + 0.5) / size) * (x2 - x1) + x1, ((y + 0.5) / size) * (y2 - y1) + y1];
        storeReal(keypoints, place, 2 * index);
      }
    };
    const units = heatmaps.dimensions[0] * channels;
    return [...values.phases, ...corners.phases, { units, cost: 8 * size * size + 64, compute }];
  },
});

/** The index of the greatest value, the first among equals. */
function placeOfMaximum(heatmap: Float64Array): number {
  let best = 0;
  for (let pixel = 1; pixel < heatmap.length; pixel++) if (heatmap[pixel] > heatmap[best]) best = pixel;
  return best;
}

/** The greatest value of a square, which is at `best`, moved by at most 1.5 to the maximum of a quadratic. */
function refineMaximum(
  heatmap: Float64Array,
  size: number,
  best: number,
): { readonly score: number; readonly x: number; readonly y: number } {
  const bestX = best % size;
  const bestY = Math.floor(best / size);
  const mirror = (place: number) => (place < 0 ? 1 : place >= size ? size - 2 : place);
  const near = (dy: number, dx: number) => heatmap[mirror(bestY + dy) * size + mirror(bestX + dx)];
  const centre = near(0, 0);
  // Gradient g and second derivatives h of f(c + d) = f(c) + g·d + d·h·d / 2; its maximum lies at d = −h⁻¹·g.
  const gx = (near(0, 1) - near(0, -1)) / 2;
  const gy = (near(1, 0) - near(-1, 0)) / 2;
  const hxx = near(0, -1) - 2 * centre + near(0, 1);
  const hyy = near(-1, 0) - 2 * centre + near(1, 0);
  const hxy = (near(1, 1) - near(1, -1) - near(-1, 1) + near(-1, -1)) / 4;
  const determinant = hxx * hyy - hxy * hxy;
  if (Math.abs(determinant) < 1e-5 + 1e-5 * hxx * hyy) return { score: centre, x: bestX, y: bestY };
  let dx = (hxy * gy - hyy * gx) / determinant;
  let dy = (hxy * gx - hxx * gy) / determinant;
  const farthest = Math.max(Math.abs(dx), Math.abs(dy));
  if (farthest > 1.5) {
    dx *= 1.5 / farthest;
    dy *= 1.5 / farthest;
  }
  const score = centre + gx * dx + gy * dy + (hxx * dx * dx + 2 * hxy * dx * dy + hyy * dy * dy) / 2;
  return { score, x: bestX + dx, y: bestY + dy };
}
