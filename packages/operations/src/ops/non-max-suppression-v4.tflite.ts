/**
 * NON_MAX_SUPPRESSION_V4: the boxes with the best scores that do not overlap too much.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { mayStayZero, read, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { oneNumber } from "./_integers.tflite.ts";
import { suppress } from "./_suppression.tflite.ts";

export const nonMaxSuppressionV4 = defineOperation({
  name: "NON_MAX_SUPPRESSION_V4",
  code: 1120,
  summary: "The boxes with the best scores that do not overlap too much, best first; unused places are 0.",
  params: [
    tensor("boxes", "TENSOR_FLOAT32"),
    tensor("scores", "TENSOR_FLOAT32"),
    read(tensor("maxOutputSize", "TENSOR_INT32")),
    tensor("iouThreshold", "TENSOR_FLOAT32"),
    tensor("scoreThreshold", "TENSOR_FLOAT32"),
  ],
  outputs: [
    mayStayZero(tensor("selectedIndices", "TENSOR_INT32")),

    mayStayZero(tensor("numSelected", "TENSOR_INT32")),
  ],
  types: [["1.2"]],
  ranks: { boxes: 2, scores: 1 },
  infer({ boxes, scores, maxOutputSize }) {
    ensureShape("the boxes", boxes, [scores.dimensions[0], 4]);
    const most = oneNumber("maxOutputSize", maxOutputSize);
    ensure(most >= 0, () => `maxOutputSize is ${most}, less than 0`);
    return { selectedIndices: { dimensions: [most] }, numSelected: { dimensions: [1] } };
  },
  reference({ boxes, scores, iouThreshold, scoreThreshold }, outputs) {
    const given = {
      boxes: boxes.data,
      scores: scores.data,
      iouThreshold: oneNumber("iouThreshold", iouThreshold),
      scoreThreshold: oneNumber("scoreThreshold", scoreThreshold),
      sigma: 0,
    };
    return suppress(given, outputs);
  },
});
