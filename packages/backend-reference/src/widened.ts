/**
 * Constants as float64, kept from run to run: the large operands of convolutions and fully connected layers need not be widened
 * again in each run. Models that are idle let go of them.
 */
import type { TensorData, Widened } from "@nnhal/operations";

/** Most bytes that the prepared models of an engine keep together. What does not fit is widened in each run. */
export const MOST_WIDENED_BYTES = 2 ** 27;

/** How much the prepared models of an engine keep. */
export interface WidenedBudget {
  bytes: number;
}

/** The widened constants of one prepared kernel. */
export interface WidenedConstants extends Widened {
  clear(): void;
}

/** None yet. `constants`: the elements that stay the same from run to run. */
export function createWidened(constants: ReadonlySet<TensorData>, budget: WidenedBudget): WidenedConstants {
  const kept = new Map<TensorData, Float64Array>();
  const sizeOf = (data: TensorData) => data.length * Float64Array.BYTES_PER_ELEMENT;
  const accepts = (data: TensorData) =>
    kept.has(data) || (constants.has(data) && budget.bytes + sizeOf(data) <= MOST_WIDENED_BYTES);
  return {
    accepts,
    get: (data) => kept.get(data),
    set(data, wide) {
      if (kept.has(data) || !accepts(data)) return;
      kept.set(data, wide);
      budget.bytes += sizeOf(data);
    },
    clear() {
      for (const data of kept.keys()) budget.bytes -= sizeOf(data);
      kept.clear();
    },
  };
}
