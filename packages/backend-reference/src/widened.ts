/**
 * Constants as float64, kept from run to run: the weights of convolutions and fully connected layers are widened in the first run
 * only. They are freed when the model is idle.
 */
import type { TensorData, Widened } from "@nnhal/operations";

/** The most bytes that the prepared models of an engine keep together. Other constants are widened in each run. */
export const MOST_WIDENED_BYTES = 2 ** 27;

/** The number of bytes that the prepared models of an engine keep. */
export interface WidenedBudget {
  bytes: number;
}

/** The widened constants of one prepared kernel. */
export interface WidenedConstants extends Widened {
  /** Threads that help the kernel set it. */
  allocate?: Widened["allocate"];
  clear(): void;
}

/** Creates the widened constants of a kernel; none at first. `constants` are the elements that do not change from run to run. */
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
