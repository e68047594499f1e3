/**
 * Widening: elements as float64 with the zero point taken away. Integer products and sums stay exact in it, so one loop
 * serves float and quantised kernels alike, and sees one kind of array only, which keeps it fast.
 */
import type { Tensor } from "../tensor.ts";

/** The elements minus the zero point, as float64. */
export function widen({ data, zeroPoint }: Pick<Tensor, "data" | "zeroPoint">): Float64Array {
  const wide = new Float64Array(data);
  if (zeroPoint !== 0) for (let index = 0; index < wide.length; index++) wide[index] -= zeroPoint;
  return wide;
}
