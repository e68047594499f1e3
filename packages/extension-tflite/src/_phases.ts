/**
 * Parts of the HAL's kernels in kernels that are generators.
 */
import { type Filled, runInSteps } from "@nnhal/operations";

/** The array that phases fill, with pauses. */
export function* filledData<Data>({ data, phases }: Filled<Data>): Generator<void, Data> {
  yield* runInSteps(phases);
  return data;
}
