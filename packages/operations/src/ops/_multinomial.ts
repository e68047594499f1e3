/**
 * Draws of classes from the logarithms of their probabilities.
 */
import type { TensorData } from "../tensor.ts";

/** Writes the sums of exp(x - max x) up to each class, of the elements from `first` on. Classes whose x is not finite have no share. */
export function accumulateOdds(data: TensorData, first: number, cumulative: Float64Array): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < cumulative.length; index++) {
    const x = data[first + index];
    if (Number.isFinite(x) && x > most) most = x;
  }
  let sum = 0;
  for (let index = 0; index < cumulative.length; index++) {
    const x = data[first + index];
    if (Number.isFinite(x)) sum += Math.exp(x - most);
    cumulative[index] = sum;
  }
}

/** The first class whose cumulative sum is greater than `target`, by bisection. */
export function classAt(cumulative: Float64Array, target: number): number {
  let least = 0;
  let greatest = cumulative.length - 1;
  while (least < greatest) {
    const middle = (least + greatest) >>> 1;
    if (cumulative[middle] > target) greatest = middle;
    else least = middle + 1;
  }
  return least;
}
