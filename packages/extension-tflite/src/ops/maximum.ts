/**
 * MAXIMUM of 8-bit, 16-bit and 64-bit integers, which are compared as they are stored.
 */
import { extreme } from "./_extreme.ts";

export const maximum = extreme("MAXIMUM", {
  integer: Math.max,
  long: (left, right) => (left > right ? left : right),
});
