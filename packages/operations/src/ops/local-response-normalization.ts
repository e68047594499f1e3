/**
 * LOCAL_RESPONSE_NORMALIZATION along one axis. Before HAL 1.2 inputs have rank 4 and the axis is the last one.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, optional, scalar, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { type Lanes, lanesOf } from "./_lanes.ts";
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
  reference({ input, radius, bias, alpha, beta, axis }, { output }) {
    const lanes = lanesOf(input.dimensions, resolveAxis(axis, input.dimensions.length));
    const values = widen(input);
    const squares = new Float64Array(values.data.length);
    const square = (first: number, end: number) => {
      for (let index = first; index < end; index++) squares[index] = values.data[index] ** 2;
    };
    const near = Math.min(2 * radius + 1, lanes.length);
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        const sum = sumOfNear(squares, lanes, index, radius);
        output.data[index] = input.data[index] * (bias + alpha * sum) ** -beta;
      }
    };
    return [
      ...values.phases,
      { units: squares.length, compute: square },
      { units: squares.length, cost: near + POWER_WORK, apart: true, compute },
    ];
  },
});

/** The sum of the values at most `radius` places from an element of a lane. Added up anew each time: a running sum would lose small squares beside large ones. */
function sumOfNear(values: Float64Array, { length, step }: Lanes, index: number, radius: number): number {
  const place = Math.floor(index / step) % length;
  const last = index + Math.min(radius, length - 1 - place) * step;
  let sum = 0;
  for (let at = index - Math.min(radius, place) * step; at <= last; at += step) sum += values[at];
  return sum;
}
