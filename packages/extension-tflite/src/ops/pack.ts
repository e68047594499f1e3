/**
 * PACK: joins tensors of one shape along a new axis.
 */
import { ensure, extentProduct, formatShape, resolveAxis, sameShape } from "@nnhal/operations";
import { defineOperation, int32, pacer, tensor, variadic, wide } from "@nnhal/operations/authoring";
import { movedInfo } from "@nnhal/operations/kernels";
import { withoutScalar } from "../_gathered.ts";
import { movable } from "../_integers.ts";
import { copyRun } from "../_runs.ts";
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
    const { dimensions, scale, zeroPoint } = first;
    ensure(values.length === valuesCount, () => `valuesCount is ${valuesCount}, but there are ${values.length} values`);
    values.forEach((value, position) => {
      ensure(
        sameShape(value.dimensions, dimensions),
        () =>
          `value ${position}: expected value 0's shape ${formatShape(dimensions)}, got ${formatShape(value.dimensions)}`,
      );
      ensure(
        value.scale === scale && value.zeroPoint === zeroPoint,
        () =>
          `value ${position}: expected value 0's scale ${scale} and zero point ${zeroPoint}, got ${value.scale} and ${value.zeroPoint}`,
      );
    });
    const place = resolveAxis(axis, dimensions.length + 1);
    const shape = [...dimensions.slice(0, place), values.length, ...dimensions.slice(place)];
    return { output: movedInfo(first, withoutScalar(shape, first, [values.length], output)) };
  },
  *reference({ values, axis }, { output }) {
    const { dimensions } = values[0];
    const inner = extentProduct(dimensions, resolveAxis(axis, dimensions.length + 1));
    const target = movable(output.data);
    const isTime = pacer();
    for (const [position, { data }] of values.entries()) {
      const source = movable(data);
      for (
        let from = 0, write = position * inner;
        from < source.length;
        from += inner, write += values.length * inner
      ) {
        const rest = copyRun(source, from, inner, target, write);
        if (rest !== undefined) yield* rest;
        if (isTime(inner)) yield;
      }
    }
  },
});
