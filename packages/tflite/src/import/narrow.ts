/**
 * INT64 tensors that are held as TENSOR_INT32, the HAL's only size of integers: inputs, and results whose values fit in 32 bits
 * whenever those of the inputs do.
 */
import { elementAt } from "@nnhal/operations";
import type { TfliteSubgraph } from "../model.ts";
import { rowOf } from "./rows.ts";

/** The INT64 tensors of a subgraph that are held as TENSOR_INT32. `order`: the operators to import, in execution order. */
export function narrowTensors(
  { tensors, operators, inputs }: TfliteSubgraph,
  order: readonly number[],
): ReadonlySet<number> {
  const narrow = new Set<number>();
  const isWide = (tensor: number) => tensors[tensor]?.type === "INT64";
  for (const tensor of inputs) if (isWide(tensor)) narrow.add(tensor);
  /** True if all values are integers that fit; a constant is checked when it is used. */
  const fits = (tensor: number) => {
    const { type, data } = elementAt(tensors, tensor);
    return type === "INT64" ? narrow.has(tensor) || data !== undefined : !type.startsWith("FLOAT");
  };
  for (const index of order) {
    const operator = elementAt(operators, index);
    const wide = operator.outputs.filter(isWide);
    if (wide.length === 0) continue;
    const { narrowed } = rowOf(operator) ?? {};
    const isNarrow =
      narrowed === "always" || (narrowed === "inputs" && operator.inputs.every((tensor) => tensor < 0 || fits(tensor)));
    if (isNarrow) for (const tensor of wide) narrow.add(tensor);
  }
  return narrow;
}
