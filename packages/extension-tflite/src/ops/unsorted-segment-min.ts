/**
 * UNSORTED_SEGMENT_MIN: the least of the slices of each segment; the greatest number if it has none.
 */
import { defineUnsortedSegment } from "../_segments.ts";

export const unsortedSegmentMin = defineUnsortedSegment({
  name: "UNSORTED_SEGMENT_MIN",
  code: 1157,
  summary: "The least of the slices of each segment; the greatest number if it has none.",
  start: [(2 - 2 ** -23) * 2 ** 127, 2 ** 31 - 1],
  combine: (least, element) => (element < least ? element : least),
});
