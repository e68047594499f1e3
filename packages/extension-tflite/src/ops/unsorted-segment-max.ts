/**
 * UNSORTED_SEGMENT_MAX: the greatest of the slices of each segment; the least number if it has none.
 */
import { defineUnsortedSegment } from "../_segments.ts";

export const unsortedSegmentMax = defineUnsortedSegment({
  name: "UNSORTED_SEGMENT_MAX",
  code: 1154,
  summary: "The greatest of the slices of each segment; the least number if it has none.",
  start: [-(2 - 2 ** -23) * 2 ** 127, -(2 ** 31)],
  combine: (greatest, element) => (greatest < element ? element : greatest),
});
