/**
 * Windows that slide over an image: padding schemes and output extents, shared by convolutions and pools.
 */
import { ensure } from "./fail.ts";

/** Padding of an image, in elements. */
export interface Padding {
  readonly paddingLeft: number;
  readonly paddingRight: number;
  readonly paddingTop: number;
  readonly paddingBottom: number;
}

/** Implicit padding schemes. NONE and VALID pad nothing; SAME makes the result's extent the input's, divided by the stride. */
export const PaddingScheme = { NONE: 0, SAME: 1, VALID: 2 } as const;

/** Axes of an image tensor: NHWC by default, NCHW if the layout operand is true. */
export function imageAxes(nchw: boolean): { batch: number; height: number; width: number; channel: number } {
  return nchw ? { batch: 0, height: 2, width: 3, channel: 1 } : { batch: 0, height: 1, width: 2, channel: 3 };
}

/** Extent that a dilated filter covers: cells of the filter lie `dilation` apart. */
export function dilatedExtent(filter: number, dilation: number): number {
  ensure(dilation >= 1, () => `dilation ${dilation} is less than 1`);
  return (filter - 1) * dilation + 1;
}

/** Padding before and after one axis by an implicit scheme; `filter` is the extent with dilation. An odd cell is added after. */
export function implicitPadding(
  scheme: number,
  input: number,
  stride: number,
  filter: number,
): readonly [before: number, after: number] {
  ensure(stride >= 1, () => `stride ${stride} is less than 1`);
  ensure(
    scheme === PaddingScheme.NONE || scheme === PaddingScheme.SAME || scheme === PaddingScheme.VALID,
    () => `padding scheme ${scheme} is none of NONE 0, SAME 1, VALID 2`,
  );
  if (scheme !== PaddingScheme.SAME) return [0, 0];
  const total = Math.max(0, (Math.ceil(input / stride) - 1) * stride + filter - input);
  const before = Math.floor(total / 2);
  return [before, total - before];
}

/**
 * Number of windows along one axis; `filter` is the extent with dilation. Padding is less than the window (as the HAL's own
 * executor demands), so every window holds at least one cell of the image.
 */
export function windowCount(
  axis: string,
  input: number,
  filter: number,
  stride: number,
  before: number,
  after: number,
): number {
  ensure(input >= 1, () => `the image's ${axis} is ${input}, less than 1`);
  ensure(stride >= 1, () => `the stride along the ${axis} is ${stride}, less than 1`);
  ensure(filter >= 1, () => `the window's ${axis} is ${filter}, less than 1`);
  ensure(
    before >= 0 && after >= 0 && before < filter && after < filter,
    () => `padding ${before} and ${after} along the ${axis} is not within 0 to ${filter - 1}, less than the window`,
  );
  const count = Math.floor((input - filter + stride + before + after) / stride);
  ensure(
    count > 0,
    () => `a window of ${filter} does not fit the ${axis} of ${input} with padding ${before} and ${after}`,
  );
  return count;
}
