/** TransformLandmarks: points through an affine transformation. */
import { defineOperation, ensure, float32, int32, tensor } from "@nnhal/operations/authoring";
import { ensureMatrix, numberOption } from "./_landmarks.ts";
import { ensureVersion } from "./_struct.ts";

const { fround } = Math;

export const transformLandmarks = defineOperation({
  name: "TransformLandmarks",
  code: 4,
  summary: "x and y of points through a matrix; their z stays.",
  params: [
    // The last dimension has one point (version 2) or several (version 1).
    tensor("landmarks", "TENSOR_FLOAT32"),
    // 4 by 4: the first two rows give x and y, from [x, y, 0, 1].
    tensor("matrix", "TENSOR_FLOAT32"),
    // Numbers of a point, 2 or 3; 0: as many as the last dimension has.
    int32("dimensions"),
    // A factor of the matrix's last column.
    float32("scale"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { landmarks: [3, 4] },
  customOptions(stored) {
    ensureVersion(stored, 2);
    if (stored.version === 2) return { dimensions: 0, scale: 1 };
    const options = stored.map();
    const dimensions = numberOption(options, "dimensions");
    ensure(dimensions === 2 || dimensions === 3, () => `dimensions: expected 2 or 3, got ${dimensions}`);
    return { dimensions, scale: numberOption(options, "scale") };
  },
  infer({ landmarks: { dimensions: shape }, matrix, dimensions, scale }) {
    ensureMatrix(matrix);
    const size = sizeOf(shape, dimensions);
    const last = shape[shape.length - 1];
    ensure(size === 2 || size === 3, () => `points: expected 2 or 3 numbers, got ${size}`);
    ensure(last % size === 0, () => `${last} numbers do not divide into points of ${size}`);
    ensure(scale !== 0, () => "the scale is 0");
    return { output: { dimensions: shape } };
  },
  /** [x, y] of a point becomes [m00 · x + m01 · y + m03 · scale, m10 · x + m11 · y + m13 · scale]. */
  reference({ landmarks, matrix: { data: matrix }, dimensions, scale }, { output }) {
    const size = sizeOf(landmarks.dimensions, dimensions);
    const compute = (first: number, end: number) => {
      const [points, results] = [landmarks.data, output.data];
      for (let at = first * size; at < end * size; at += size) {
        const [x, y] = [points[at], points[at + 1]];
        results[at] = matrix[0] * x + matrix[1] * y + fround(matrix[3] * scale);
        results[at + 1] = matrix[4] * x + matrix[5] * y + fround(matrix[7] * scale);
        if (size === 3) results[at + 2] = points[at + 2];
      }
    };
    return { units: landmarks.data.length / size, cost: 16, compute };
  },
});

function sizeOf(shape: readonly number[], dimensions: number): number {
  return dimensions === 0 ? shape[shape.length - 1] : dimensions;
}
