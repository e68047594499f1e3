/**
 * Padding with a tensor's own elements in reverse order.
 */

import type { OutputInfo } from "../define.ts";
import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import type { TensorData, TensorInfo } from "../tensor.ts";
import { movedInfo } from "./_moved.ts";
import { type Pad, paddedShape } from "./_pads.ts";
import { copyPicked } from "./_picked.ts";

/** Elements at each end that are not repeated, by mode: 0 is REFLECT, 1 is SYMMETRIC. */
const borders: readonly number[] = [1, 0];

/** Describes the error in a mode of MIRROR_PAD; undefined if it is one, or not known. */
export function mirrorModeProblem(mode: number | undefined): string | undefined {
  if (mode === undefined || mode === 0 || mode === 1) return undefined;
  return `the mode: expected 0 (REFLECT) or 1 (SYMMETRIC), got ${mode}`;
}

/** The output of MIRROR_PAD. Throws an OperationError for pads with more elements than there are to repeat. */
export function inferMirrorPad(input: TensorInfo, pads: readonly Pad[], mode: number): OutputInfo {
  const { dimensions } = input;
  pads.forEach(([before, after], axis) => {
    const most = dimensions[axis] - borders[mode];
    ensure(
      (before <= most && after <= most) || before + after === 0,
      () => `padding ${before} and ${after} of axis ${axis} is more than the ${Math.max(most, 0)} elements to repeat`,
    );
  });
  return movedInfo(input, paddedShape(dimensions, pads));
}

/** Fills a target of the padded shape. */
export function mirror(
  data: TensorData,
  dimensions: readonly number[],
  pads: readonly Pad[],
  mode: number,
  target: TensorData,
): Phase {
  const places = pads.map((pad, axis) => mirrorPlaces(dimensions[axis], pad, borders[mode]));
  return copyPicked(data, dimensions, places, target);
}

/** The places of an axis with its reflection at both ends; `border`: the elements at the ends that are not repeated. */
function mirrorPlaces(extent: number, [before, after]: Pad, border: number): Int32Array {
  return Int32Array.from({ length: before + extent + after }, (_, index) => {
    const place = index - before;
    if (place < 0) return -place - 1 + border;
    return place < extent ? place : 2 * extent - 1 - border - place;
  });
}
