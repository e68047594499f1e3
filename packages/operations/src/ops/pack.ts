/**
 * PACK: joins tensors of one shape along a new axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor, variadic } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { movedInfo, movedTypesSince } from "./_moved.ts";
import { ensureAlike, interleave } from "./_packing.ts";

export const pack = defineOperation({
  name: "PACK",
  code: OperationType.PACK,
  summary: "Joins tensors of one shape along a new axis.",
  params: [int32("axis"), variadic(tensor("values"))],
  outputs: [tensor("output")],
  types: movedTypesSince("aidl2"),
  ranks: { values: [1, Number.POSITIVE_INFINITY] },
  infer({ axis, values }) {
    ensureAlike(values);
    const [{ dimensions }] = values;
    const rank = dimensions.length;
    ensure(axis >= 0 && axis <= rank, () => `axis ${axis} is outside [0, ${rank}]`);
    const shape = [...dimensions.slice(0, axis), values.length, ...dimensions.slice(axis)];
    return { output: movedInfo(values[0], shape) };
  },
  reference({ axis, values }, { output }) {
    const inner = extentProduct(values[0].dimensions, axis);
    return interleave(
      values.map(({ data }) => data),
      inner,
      output.data,
    );
  },
});
