/**
 * UNSORTED_SEGMENT_PROD: the product of the slices of each segment; 1 if it has none.
 */
import { defineUnsortedSegment } from "../_segments.ts";

export const unsortedSegmentProd = defineUnsortedSegment({
  name: "UNSORTED_SEGMENT_PROD",
  code: 1153,
  summary: "The product of the slices of each segment; 1 if it has none.",
  start: [1, 1],
  combine: (product, element) => product * element,
  combineIntegers: Math.imul,
});
