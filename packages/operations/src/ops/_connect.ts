/**
 * The loop of fully connected layers.
 */
import type { KernelContext } from "../define.ts";
import type { Tensor } from "../tensor.ts";
import type { Store } from "./_accumulator.ts";
import { blockOf, multiply, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { widen, widenOnce } from "./_widen.ts";

/**
 * output[b, u] = bias[u] + Σ rows[b, i] · weights[u, i]
 *
 * `rows`: the input, widened. The weights are widened once if the executor keeps them from run to run. Otherwise they are widened some
 * units at a time: they are the large operand, and in most models each is used once.
 */
export function* connect(
  rows: Float64Array,
  weights: Tensor,
  bias: Float64Array,
  store: Store,
  context: KernelContext,
): Generator<void, void> {
  const [units, size] = weights.dimensions;
  const all = context.widened?.accepts(weights.data) ? yield* widenOnce(weights, context) : undefined;
  const sums = new Float64Array(units);
  const block = blockOf(size);
  let work = 0;
  for (let first = 0; first < units; first += block) {
    const end = Math.min(first + block, units);
    const data = weights.data.subarray(first * size, end * size);
    const kept = all?.subarray(first * size, end * size);
    // No ?? here: the CommonJS build would move the yield into a separate function.
    const part = kept === undefined ? yield* widen({ data, zeroPoint: weights.zeroPoint }) : kept;
    for (let row = 0; row * size < rows.length; row++) {
      const inputs = rows.subarray(row * size, (row + 1) * size);
      multiply(inputs, part, bias.subarray(first), 0, end - first, sums.subarray(first));
      store(sums, first, end, row * units, 1);
      work += (end - first) * (size + 1);
      if (work > WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
  }
}
