/** Operators that look for elements. */

import type { KernelTensor } from "@nnhal/backend";
import type { TensorInfo } from "@nnhal/operations";
import type { Builder, Value } from "../plan/builder.ts";
import { addExtremePlace } from "../plan/search.ts";
import { numbersOf, type Table } from "./operands.ts";

function extremePlace(name: string, isGreatest: boolean) {
  return (
    { input, axis }: { readonly input: KernelTensor; readonly axis: KernelTensor },
    { output }: { readonly output: TensorInfo },
    builder: Builder,
  ): Value => addExtremePlace(builder, name, input, numbersOf("the axis", axis)[0] ?? 0, output, isGreatest);
}

/** The lowerings. */
export const searching: Table = {
  ARGMAX: extremePlace("ARGMAX", true),
  ARGMIN: extremePlace("ARGMIN", false),
};
