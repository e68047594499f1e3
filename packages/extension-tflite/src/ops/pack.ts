/**
 * PACK: joins tensors of one shape along a new axis.
 */
import { ensure, extentProduct, resolveAxis } from "@nnhal/operations";
import { defineOperation, int32, tensor, variadic, wide } from "@nnhal/operations/authoring";
import { ensureAlike, interleave, movedInfo } from "@nnhal/operations/kernels";
import { withoutScalar } from "../_gathered.ts";
import { movable } from "../_integers.ts";
import { packTypes } from "../_types.ts";

export const pack = defineOperation({
  name: "PACK",
  code: 1083,
  summary: "Joins tensors of one shape along a new axis.",
  params: [variadic(wide(tensor("values"))), int32("valuesCount"), int32("axis")],
  outputs: [wide(tensor("output"))],
  types: packTypes.map((type) => ["1.2", type, type] as const),
  infer({ values, valuesCount, axis }, { output }) {
    const [first] = values;
    const { dimensions } = first;
    ensure(values.length === valuesCount, () => `valuesCount is ${valuesCount}, but there are ${values.length} values`);
    ensureAlike(values);
    const place = resolveAxis(axis, dimensions.length + 1);
    const shape = [...dimensions.slice(0, place), values.length, ...dimensions.slice(place)];
    return { output: movedInfo(first, withoutScalar(shape, first, [values.length], output)) };
  },
  reference({ values, axis }, { output }) {
    const { dimensions } = values[0];
    const inner = extentProduct(dimensions, resolveAxis(axis, dimensions.length + 1));
    return interleave(
      values.map(({ data }) => movable(data)),
      inner,
      movable(output.data),
    );
  },
});
