/**
 * PACK: joins tensors of one shape along a new axis.
 */
import { ensure, extentProduct, formatShape, type Phase, resolveAxis, sameShape } from "@nnhal/operations";
import { defineOperation, int32, tensor, variadic, wide } from "@nnhal/operations/authoring";
import { movedInfo } from "@nnhal/operations/kernels";
import { withoutScalar } from "../_gathered.ts";
import { movable } from "../_integers.ts";
import { copyWholeRun, costOfRun } from "../_runs.ts";
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
  reference({ values, axis }, { output }) {
    const { dimensions } = values[0];
    const inner = extentProduct(dimensions, resolveAxis(axis, dimensions.length + 1));
    const target = movable(output.data);
    return values.map(({ data }, position): Phase => {
      const source = movable(data);
      return {
        units: inner === 0 ? 0 : source.length / inner,
        cost: costOfRun(inner),
        compute(first, end) {
          for (let run = first; run < end; run++) {
            copyWholeRun(source, run * inner, inner, target, (run * values.length + position) * inner);
          }
        },
      };
    });
  },
});
