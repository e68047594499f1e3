/**
 * MAXIMUM of 16-bit and 64-bit integers. Elements are compared as they are: operands have one quantisation.
 */
import { extreme } from "./_extreme.ts";

export const maximum = extreme("MAXIMUM", {
  integer: Math.max,
  long: (left, right) => (left > right ? left : right),
});
