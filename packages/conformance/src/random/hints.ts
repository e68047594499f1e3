/** Plausible operands, by operation. An operation that is not here gets tensors of one shape. */
import { detectionHints } from "./hints/detection.ts";
import { elementwiseHints } from "./hints/elementwise.ts";
import { imageHints } from "./hints/images.ts";
import { rearrangingHints } from "./hints/rearranging.ts";
import { recurrentHints } from "./hints/recurrent.ts";
import type { Plausible } from "./wanted.ts";

export const hints: Readonly<Record<string, Plausible>> = {
  ...detectionHints,
  ...elementwiseHints,
  ...imageHints,
  ...rearrangingHints,
  ...recurrentHints,
};
