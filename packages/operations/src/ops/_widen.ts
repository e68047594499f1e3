/**
 * Widening: elements as float64 with the zero point taken away. Integer products and sums stay exact in it, so one loop
 * serves float and quantised kernels alike, and sees one kind of array only, which keeps it fast.
 */
import type { KernelContext } from "../define.ts";
import type { Tensor } from "../tensor.ts";

/** Elements that are widened between two pauses. */
const PART = 1 << 18;

/** The elements minus the zero point, as float64. Pauses if there are many. */
export function* widen({ data, zeroPoint }: Pick<Tensor, "data" | "zeroPoint">): Generator<void, Float64Array> {
  if (data.length <= PART) {
    const wide = new Float64Array(data);
    subtract(wide, zeroPoint);
    return wide;
  }
  const wide = new Float64Array(data.length);
  for (let start = 0; start < data.length; start += PART) {
    wide.set(data.subarray(start, start + PART), start);
    subtract(wide.subarray(start, start + PART), zeroPoint);
    yield;
  }
  return wide;
}

/** Like `widen`, but only once for constants that the executor keeps widened. */
export function* widenOnce(tensor: Tensor, { widened }: Partial<KernelContext>): Generator<void, Float64Array> {
  const known = widened?.get(tensor.data);
  if (known !== undefined) return known;
  const wide = yield* widen(tensor);
  widened?.set(tensor.data, wide);
  return wide;
}

function subtract(wide: Float64Array, zeroPoint: number): void {
  if (zeroPoint !== 0) for (let index = 0; index < wide.length; index++) wide[index] -= zeroPoint;
}
