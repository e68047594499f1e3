/**
 * Widening: elements as float64 with the zero point taken away. Integer products and sums stay exact in it, so one loop
 * serves float and quantised kernels alike, and sees one kind of array only, which keeps it fast.
 */
import type { KernelContext } from "../define.ts";
import type { Filled, Phase } from "../phases.ts";
import type { Tensor, TensorData } from "../tensor.ts";

/** The elements minus the zero point, as float64, in `wide`. Default: memory of its own. */
export function widen(
  { data, zeroPoint }: Pick<Tensor, "data" | "zeroPoint">,
  wide: Float64Array = new Float64Array(data.length),
): Filled<Float64Array> {
  const phase: Phase = {
    units: data.length,
    cost: 1,
    compute: (first, end) => widenRange(data, zeroPoint, wide, first, end),
  };
  return { data: wide, phases: [phase] };
}

/** wide = data − zeroPoint */
export function widenRange(data: TensorData, zeroPoint: number, wide: Float64Array, first: number, end: number): void {
  wide.set(data.subarray(first, end), first);
  if (zeroPoint !== 0) for (let index = first; index < end; index++) wide[index] -= zeroPoint;
}

/** Like `widen`, but only once for constants that the executor keeps widened. */
export function widenOnce(tensor: Tensor, { widened }: Partial<KernelContext>): Filled<Float64Array> {
  const known = widened?.get(tensor.data);
  if (known !== undefined) return { data: known, phases: [] };
  const { data, phases } = widen(tensor, widened?.allocate?.(tensor.data));
  // Kept only when it is complete.
  const keep: Phase = { units: 1, compute: () => widened?.set(tensor.data, data) };
  return { data, phases: [...phases, keep] };
}
