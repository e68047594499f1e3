/**
 * PACK: joins tensors of one shape along a new axis.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor, variadic, wide } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { withoutScalar } from "./_gathered.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { ensureAlike, interleave } from "./_packing.ts";
import { packTypes } from "./_types.tflite.ts";

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
