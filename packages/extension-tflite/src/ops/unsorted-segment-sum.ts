/**
 * UNSORTED_SEGMENT_SUM: the sum of the slices of each segment; 0 if it has none.
 */
import { defineUnsortedSegment } from "../_segments.ts";

export const unsortedSegmentSum = defineUnsortedSegment({
  name: "UNSORTED_SEGMENT_SUM",
  code: 1155,
  summary: "The sum of the slices of each segment; 0 if it has none.",
  start: [0, 0],
  combine: (sum, element) => sum + element,
});
