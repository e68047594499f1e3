/**
 * HEATMAP_MAX_KEYPOINT: for each box and keypoint the place of the greatest value in a square heatmap, refined between
 * the pixels by a quadratic through its neighbours.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, tensor } from "../params.ts";
import { imageAxes } from "../window.ts";
import { boxQuantisation, ensureBoxScale, ensureOrdered } from "./_boxes.ts";
import { expectShape } from "./_lstm.ts";
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
    const axes = imageAxes(nchw);
    const [count] = heatmaps.dimensions;
    const size = heatmaps.dimensions[axes.height];
    const keypoints = heatmaps.dimensions[axes.channel];
    ensure(
      size >= 2 && heatmaps.dimensions[axes.width] === size,
      () => `heatmaps of ${size}x${heatmaps.dimensions[axes.width]} are given where squares of 2x2 or more are needed`,
    );
    expectShape("the boxes", boxes, [count, 4]);
    ensureBoxScale("the boxes", boxes);
    return {
      scores: { dimensions: [count, keypoints] },
      keypoints: { dimensions: [count, keypoints, 2], ...boxQuantisation(boxes) },
    };
  },
  *reference({ heatmaps, boxes, nchw }, { scores, keypoints }) {
    const axes = imageAxes(nchw);
    const size = heatmaps.dimensions[axes.height];
    const [count, keypointCount] = scores.dimensions;
    const values = realValues(heatmaps);
    const corners = realValues(boxes);
    const bestScores = new Float64Array(count * keypointCount);
    const places = new Float64Array(2 * count * keypointCount);
    const pixelStep = nchw ? 1 : keypointCount;
    for (let box = 0; box < count; box++) {
      ensureOrdered(corners, 4 * box);
      const [x1, y1, x2, y2] = corners.subarray(4 * box, 4 * box + 4);
      for (let keypoint = 0; keypoint < keypointCount; keypoint++) {
        const base = box * size * size * keypointCount + keypoint * (nchw ? size * size : 1);
        const at = (y: number, x: number) => values[base + (y * size + x) * pixelStep];
        const { score, x, y } = refineMaximum(at, size);
        const index = box * keypointCount + keypoint;
        bestScores[index] = score;
        places[2 * index] = ((x + 0.5) / size) * (x2 - x1) + x1;
        places[2 * index + 1] = ((y + 0.5) / size) * (y2 - y1) + y1;
      }
      yield;
    }
    storeReal(scores, bestScores);
    storeReal(keypoints, places);
  },
});

/** The greatest value of a square, the first among equals, moved by at most 1.5 to where a quadratic has its maximum. */
function refineMaximum(
  at: (y: number, x: number) => number,
  size: number,
): { readonly score: number; readonly x: number; readonly y: number } {
  let bestX = 0;
  let bestY = 0;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (at(y, x) > at(bestY, bestX)) [bestY, bestX] = [y, x];
    }
  }
  const mirror = (place: number) => (place < 0 ? 1 : place >= size ? size - 2 : place);
  const near = (dy: number, dx: number) => at(mirror(bestY + dy), mirror(bestX + dx));
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
