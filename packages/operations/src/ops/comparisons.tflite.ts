/**
 * The six comparisons of 16-bit and 64-bit integers, and of 8-bit elements in the steps in which .tflite compares real numbers.
 */

import { multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import type { TensorInfo } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { type AnyTensor, isPlain } from "./_elements.tflite.ts";
import { broadcast } from "./_elementwise.tflite.ts";
import { longsIn, numbersIn } from "./_integers.tflite.ts";
import { isLong, widerOf } from "./_wider.tflite.ts";
import { equal } from "./equal.ts";
import { greater } from "./greater.ts";
import { greaterEqual } from "./greater-equal.ts";
import { less } from "./less.ts";
import { lessEqual } from "./less-equal.ts";
import { notEqual } from "./not-equal.ts";

type Comparison =
  | typeof equal
  | typeof notEqual
  | typeof greater
  | typeof greaterEqual
  | typeof less
  | typeof lessEqual;

/** Defines one of the comparisons; `test`: its result, from the sign of left - right. */
function comparison<Base extends Comparison>(base: Base, test: (order: number) => boolean) {
  const isEquality = base.name === "EQUAL" || base.name === "NOT_EQUAL";
  return widerOf<Comparison, Base>(base, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
    reference({ left, right }, { output }) {
      const results = numbersIn(output.data);
      const sides = [left, right].map((tensor) => broadcast(tensor, output.dimensions));
      const [a, b] = sides.map(({ tensor }) => comparableOf(tensor, isEquality));
      const compute = (first: number, end: number) => {
        for (let index = first; index < end; index++) {
          const [x, y] = [a(index), b(index)];
          results[index] = test(x < y ? -1 : x > y ? 1 : 0) ? 1 : 0;
        }
      };
      return [...sides.flatMap(({ phases }) => phases), { units: results.length, compute }];
    },
  });
}

/** The number of each element that is compared: .tflite compares 16-bit elements as they are, except for equality. */
function comparableOf(tensor: AnyTensor, isEquality: boolean): (index: number) => number | bigint {
  if (isLong(tensor.type)) {
    const data = longsIn(tensor.data);
    return (index) => data[index];
  }
  const data = numbersIn(tensor.data);
  const isReal = tensor.type !== "TENSOR_QUANT16_SYMM" || (isEquality && !isPlain(tensor));
  const map = isReal ? realUnits(tensor) : undefined;
  return map === undefined ? (index) => data[index] : (index) => map(data[index]);
}

/** The real number that an element stands for, in whole units of 1/256. */
function realUnits({ scale, zeroPoint }: TensorInfo): (element: number) => number {
  const multiplier = quantiseMultiplier(scale);
  return (element) => multiplyByQuantisedMultiplier((element - zeroPoint) * 256, multiplier);
}

/** The operators. */
export const comparisons = [
  comparison(equal, (order) => order === 0),
  comparison(notEqual, (order) => order !== 0),
  comparison(greater, (order) => order > 0),
  comparison(greaterEqual, (order) => order >= 0),
  comparison(less, (order) => order < 0),
  comparison(lessEqual, (order) => order <= 0),
] as const;
