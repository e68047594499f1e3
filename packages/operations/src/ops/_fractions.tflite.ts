/**
 * The rule of 16-bit results that are fractions of 1.
 */

import { ensure } from "../fail.ts";
import type { TensorInfo } from "../tensor.ts";

const SCALE = 2 ** -15;

/** Throws an OperationError unless the scale is 2^-15, within a thousandth. */
export function ensureFractions({ scale }: TensorInfo): void {
  ensure(Math.abs(scale - SCALE) <= 1e-3 * SCALE, () => `the output's scale: expected ${SCALE}, got ${scale}`);
}
