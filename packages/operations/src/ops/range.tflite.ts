/**
 * RANGE: numbers from a start up to a limit.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import type { AnyTensorData } from "../operand-type.ts";
import { read, tensor, wide } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { isLongs } from "./_integers.tflite.ts";

/** A result has fewer elements: .tflite counts them in 32 bits. */
const tooMany = 2 ** 31;

export const range = defineOperation({
  name: "RANGE",
  code: 1096,
  summary: "The numbers from start up to limit, without it, in steps of delta.",
  params: [read(wide(tensor("start"))), read(wide(tensor("limit"))), read(wide(tensor("delta")))],
  outputs: [wide(tensor("output"))],
  types: (["TENSOR_FLOAT32", "TENSOR_INT32", tfliteTypes.TENSOR_INT64] as const).map(
    (type) => ["1.2", type, type, type, type] as const,
  ),
  infer({ start, limit, delta }) {
    const [from, to, step] = [one("start", start), one("limit", limit), one("delta", delta)];
    ensure(
      (from <= to && step > 0) || (from >= to && step < 0),
      () => `a delta of ${step} does not lead from ${from} to ${to}`,
    );
    const count = steps(from, to, step);
    ensure(
      count < tooMany,
      () => `from ${from} to ${to} in steps of ${step} are ${count} elements, more than 2^31 - 1`,
    );
    return { output: { dimensions: [count] } };
  },
  reference({ start, delta }, { output }) {
    const { data } = output;
    if (isLongs(data)) {
      const [from, step] = [BigInt(start.data[0]), BigInt(delta.data[0])];
      return {
        units: data.length,
        // A bigint is made for each element.
        cost: 32,
        compute(first, end) {
          for (let index = first; index < end; index++) data[index] = from + BigInt(index) * step;
        },
      };
    }
    const [from, step] = [Number(start.data[0]), Number(delta.data[0])];
    return {
      units: data.length,
      inTurn: true,
      compute(first, end) {
        // Sums of floats are rounded at each step, as .tflite does: each is the element before it plus delta.
        for (let index = first; index < end; index++) data[index] = index === 0 ? from : data[index - 1] + step;
      },
    };
  },
});

function one(name: string, { data }: Tensor<AnyTensorData>): number | bigint {
  ensure(data.length === 1, () => `${name}: expected 1 element, got ${data.length}`);
  return data[0];
}

/** The number of elements. Differences and quotients of floats are float32, as their operands are. */
function steps(from: number | bigint, to: number | bigint, step: number | bigint): number {
  if (typeof from === "number" && typeof to === "number" && typeof step === "number") {
    const quotient = Math.abs((to - from) / step);
    return Math.ceil(
      Number.isInteger(from) && Number.isInteger(to) && Number.isInteger(step) ? quotient : Math.fround(quotient),
    );
  }
  const difference = BigInt(to) - BigInt(from);
  const size = BigInt(step);
  const whole = difference / size;
  return Number(whole * size === difference ? whole : whole + 1n);
}
