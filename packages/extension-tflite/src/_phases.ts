/**
 * Parts of the HAL's kernels in kernels that are generators.
 */
import { type Filled, runInSteps } from "@nnhal/operations";

/** The array that phases fill, with pauses. */
export function* filledData<Data>({ data, phases }: Filled<Data>): Generator<void, Data> {
  yield* runInSteps(phases);
  return data;
}

/** The same, with what else is known of the array, such as the layout of an image. */
export function* filled<Whole extends Filled<unknown>>(whole: Whole): Generator<void, Whole> {
  yield* runInSteps(whole.phases);
  return whole;
}
