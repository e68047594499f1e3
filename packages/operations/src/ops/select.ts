/**
 * SELECT: takes each element from one of two tensors. The three tensors have one shape, they do not broadcast.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor } from "../params.ts";
import { formatShape, sameShape } from "../shape.ts";
import { requantise } from "./_requantise.ts";
import { rowsOfOneType } from "./_types.ts";

export const select = defineOperation({
  name: "SELECT",
  code: OperationType.SELECT,
  summary: "Elements of one tensor where a condition is true, of another where it is false.",
  params: [tensor("condition", "TENSOR_BOOL8"), tensor("whenTrue"), tensor("whenFalse")],
  outputs: [tensor("output")],
  types: rowsOfOneType(3, [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ]),
  infer({ condition, whenTrue, whenFalse }) {
    for (const [name, { dimensions }] of Object.entries({ whenTrue, whenFalse })) {
      ensure(
        sameShape(dimensions, condition.dimensions),
        () =>
          `${name}: expected the condition's shape ${formatShape(condition.dimensions)}, got ${formatShape(dimensions)}`,
      );
    }
    return { output: { dimensions: condition.dimensions } };
  },
  reference({ condition, whenTrue, whenFalse }, { output }) {
    const chosen = requantise(whenTrue, output);
    const other = requantise(whenFalse, output);
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        output.data[index] = condition.data[index] ? chosen.data[index] : other.data[index];
      }
    };
    return [...chosen.phases, ...other.phases, { units: output.data.length, compute }];
  },
});
