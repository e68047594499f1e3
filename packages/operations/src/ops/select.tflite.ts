/**
 * SELECT for all types. A condition of one dimension chooses between whole slices along the first axis, one of one element between the two
 * tensors. Elements are copied as they are stored.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor, wide } from "../params.ts";
import { extentProduct, formatShape, sameShape } from "../shape.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

export const select = movesComplex(
  defineOperation({
    name: "SELECT",
    code: OperationType.SELECT,
    summary: "Elements or slices of one tensor where a condition is true, of another where it is false.",
    params: [tensor("condition", "TENSOR_BOOL8"), wide(tensor("whenTrue")), wide(tensor("whenFalse"))],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type, type] as const),
    infer({ condition, whenTrue: { dimensions }, whenFalse }) {
      ensure(
        sameShape(dimensions, whenFalse.dimensions),
        () =>
          `whenFalse: expected whenTrue's shape ${formatShape(dimensions)}, got ${formatShape(whenFalse.dimensions)}`,
      );
      const count = extentProduct(condition.dimensions, 0);
      ensure(
        sameShape(condition.dimensions, dimensions) ||
          (condition.dimensions.length <= 1 && (count === 1 || count === dimensions[0])),
        () =>
          `the condition: expected ${formatShape(dimensions)}, its first extent or 1, got ${formatShape(condition.dimensions)}`,
      );
      return { output: { dimensions } };
    },
    reference({ condition, whenTrue, whenFalse }, { output }) {
      const [flags, yes, no, to] = [
        condition.data,
        movable(whenTrue.data),
        movable(whenFalse.data),
        movable(output.data),
      ];
      const part = to.length / flags.length;
      return {
        units: to.length,
        compute(first, end) {
          for (let place = first; place < end; place++) {
            to[place] = flags[Math.floor(place / part)] ? yes[place] : no[place];
          }
        },
      };
    },
  }),
);
