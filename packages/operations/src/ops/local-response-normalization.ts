/**
 * LOCAL_RESPONSE_NORMALIZATION along one axis. Before HAL 1.2 inputs have rank 4 and the axis is the last one.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, optional, scalar, tensor } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { pacer } from "./_chunks.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { widen } from "./_widen.ts";

/** The cost of a power, in multiply-adds. */
const POWER_WORK = 16;

export const localResponseNormalization = defineOperation({
  name: "LOCAL_RESPONSE_NORMALIZATION",
  code: OperationType.LOCAL_RESPONSE_NORMALIZATION,
  summary: "Divides by a power of the squares nearby along an axis: x / (bias + alpha · Σ x²)^beta.",
  params: [
    tensor("input"),
    int32("radius"),
    scalar("bias"),
    scalar("alpha"),
    scalar("beta"),
    optional("1.2", int32("axis"), -1),
  ],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "FLOAT32", "FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
  ],
  ranks: { input: [1, 4] },
  work: "functionElement",
  since: ({ input }) => (input.dimensions.length === 4 ? undefined : "1.2"),
  infer({ input, radius, axis }) {
    resolveAxis(axis, input.dimensions.length);
    ensure(radius >= 0, () => `the radius is ${radius}, less than 0`);
    return { output: { dimensions: input.dimensions } };
  },
  *reference({ input, radius, bias, alpha, beta, axis }, { output }) {
    const along = resolveAxis(axis, input.dimensions.length);
    const extent = input.dimensions[along];
    const inner = extentProduct(input.dimensions, along + 1);
    const squares = yield* widen(input);
    const isTime = pacer();
    for (let index = 0; index < squares.length; index++) {
      squares[index] **= 2;
      if (isTime(1)) yield;
    }
    let work = 0;
    for (let start = 0; start < squares.length; start += extent * inner) {
      for (let index = 0; index < extent; index++) {
        const first = Math.max(0, index - radius);
        const end = Math.min(extent, index + radius + 1);
        for (let column = start; column < start + inner; column++) {
          // Added up anew each time: a running sum would lose small squares beside large ones.
          let sum = 0;
          for (let near = first; near < end; near++) {
            sum += squares[column + near * inner];
            if (near % WORK_BETWEEN_PAUSES === WORK_BETWEEN_PAUSES - 1) yield;
          }
          const at = column + index * inner;
          output.data[at] = input.data[at] * (bias + alpha * sum) ** -beta;
          work += end - first + POWER_WORK;
          if (work > WORK_BETWEEN_PAUSES) {
            work = 0;
            yield;
          }
        }
      }
    }
  },
});
