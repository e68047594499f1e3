/**
 * The loop of fully connected layers.
 */
import type { KernelContext } from "../define.ts";
import type { Phase } from "../phases.ts";
import type { Tensor } from "../tensor.ts";
import type { Store } from "./_accumulator.ts";
import { multiply } from "./_inner-products.ts";
import { widenOnce, widenRange } from "./_widen.ts";

/** Weights of a unit, so that a range has several rows for each part of the weights that it widens. */
const WEIGHTS_OF_UNIT = 1 << 15;

/**
 * output[b, u] = bias[u] + Σ rows[b, i] · weights[u, i]
 *
 * `rows`: the input, widened. The weights are widened once if the executor keeps them from run to run. Otherwise they are widened some
 * units at a time: they are the large operand, and in most models each is used once.
 */
export function connect(
  rows: Float64Array,
  weights: Tensor,
  bias: Float64Array,
  store: Store,
  context: KernelContext,
): readonly Phase[] {
  const [units, size] = weights.dimensions;
  const kept = context.widened?.accepts(weights.data) ? widenOnce(weights, context) : undefined;
  const block = Math.min(units, Math.max(4, Math.floor(WEIGHTS_OF_UNIT / size) & ~3));
  const count = rows.length / size;
  const sums = new Float64Array(units);
  const scratch = new Float64Array(kept ? 0 : block * size);
  const phase: Phase = {
    units: Math.ceil(units / block) * count,
    cost: (block + 1) * (size + 1),
    apart: true,
    compute(first, end) {
      for (let unit = first; unit < end; unit++) {
        const row = unit % count;
        const from = Math.floor(unit / count) * block;
        const to = Math.min(from + block, units);
        const part = weights.data.subarray(from * size, to * size);
        if (!kept && (row === 0 || unit === first)) widenRange(part, weights.zeroPoint, scratch, 0, part.length);
        const wide = kept ? kept.data.subarray(from * size, to * size) : scratch;
        const inputs = rows.subarray(row * size, (row + 1) * size);
        multiply(inputs, wide, bias.subarray(from), 0, to - from, sums.subarray(from));
        store(sums, from, to, row * units, 1);
      }
    },
  };
  return [...(kept?.phases ?? []), phase];
}
