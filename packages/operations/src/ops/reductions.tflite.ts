/**
 * Reductions of all types and ranks of .tflite.
 */

import { clamp, quantiseMultiplier } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import { integerRange } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { fillElements } from "./_copies.ts";
import { type AnyOutput, type AnyTensor, isPlain, isQuantised, writerOf } from "./_elements.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { type Combination, combineAll, type ReducedAxes, reduction, store, sumsOf } from "./_reduction.tflite.ts";
import { ensureElements, reduce } from "./_reduction.ts";
import { arithmeticTypes } from "./_types.tflite.ts";
import { reduceAll } from "./reduce-all.ts";
import { reduceAny } from "./reduce-any.ts";
import { reduceMax } from "./reduce-max.ts";
import { reduceMin } from "./reduce-min.ts";
import { reduceProd } from "./reduce-prod.ts";
import { reduceSum } from "./reduce-sum.ts";

/** Defines one of the operations. */
function reductionExtreme<Base extends typeof reduceMax | typeof reduceMin>(base: Base, combination: Combination) {
  return reduction(base, {
    types: arithmeticTypes,
    needsElements: true,
    kernel: (input, { reduced }, output) => combineAll(input, reduced, output, combination),
  });
}

/** The operators. */
export const reductions = [
  // REDUCE_ALL of more than 4 axes.
  reduction(reduceAll, {
    types: ["TENSOR_BOOL8"],
    kernel: (input, { reduced }, output) =>
      combineAll(input, reduced, output, { start: 1, combine: (all, element) => (element === 0 ? 0 : all) }),
  }),
  // REDUCE_ANY of more than 4 axes.
  reduction(reduceAny, {
    types: ["TENSOR_BOOL8"],
    kernel: (input, { reduced }, output) =>
      combineAll(input, reduced, output, { start: 0, combine: (any, element) => (element === 0 ? any : 1) }),
  }),
  // REDUCE_MAX of integers and 16-bit elements, and of more than 4 axes.
  reductionExtreme(reduceMax, {
    start: Number.NEGATIVE_INFINITY,
    combine: Math.max,
    startLong: -(2n ** 63n),
    combineLong: (greatest, element) => (element > greatest ? element : greatest),
  }),
  // REDUCE_MIN of integers and 16-bit elements, and of more than 4 axes.
  reductionExtreme(reduceMin, {
    start: Number.POSITIVE_INFINITY,
    combine: Math.min,
    startLong: 2n ** 63n - 1n,
    combineLong: (least, element) => (element < least ? element : least),
  }),
  // REDUCE_SUM of integers and quantised elements, and of more than 4 axes. Integers wrap; a quantised sum is rounded once.
  reduction(reduceSum, {
    types: arithmeticTypes,
    kernel(input, { reduced, count }, output) {
      if (isQuantised(input.type)) {
        const { data: sums, phases } = sumsOf(input, reduced, output.data.length);
        const write = writerOf(output);
        const compute = (first: number, end: number) => {
          for (let index = first; index < end; index++) {
            write(index, (sums[index] - count * input.zeroPoint) * input.scale);
          }
        };
        return [...phases, { units: sums.length, compute }];
      }
      const combine =
        input.type === "TENSOR_INT32"
          ? (sum: number, element: number) => (sum + element) | 0
          : (sum: number, element: number) => sum + element;
      const combineLong = (sum: bigint, element: bigint) => sum + element;
      return combineAll(input, reduced, output, { start: 0, combine, startLong: 0n, combineLong });
    },
  }),
  // REDUCE_PROD of integers and quantised elements, and of more than 4 axes. Integers wrap; a quantised product is rounded after each factor, as the operator does.
  reduction(reduceProd, {
    types: [
      "TENSOR_FLOAT32",
      "TENSOR_INT32",
      tfliteTypes.TENSOR_INT64,
      "TENSOR_QUANT8_ASYMM_SIGNED",
      "TENSOR_QUANT16_SYMM",
    ],
    kernel(input, axes, output) {
      const isInteger =
        input.type === "TENSOR_INT32" || (input.type === "TENSOR_QUANT16_SYMM" && isPlain(input) && isPlain(output));
      if (isQuantised(input.type) && !isInteger) return quantisedProduct(input, axes, output);
      return combineAll(input, axes.reduced, output, {
        start: 1,
        combine: isInteger ? Math.imul : (product, element) => product * element,
        startLong: 1n,
        combineLong: (product, element) => BigInt.asIntN(64, product * element),
      });
    },
  }),
] as const;

/** Each factor is scaled by the input's scale and a share of the output's, so that intermediate products fit into 32 bits. */
function quantisedProduct(input: AnyTensor, { reduced, count }: ReducedAxes, output: AnyOutput): readonly Phase[] {
  ensureElements(input.dimensions, reduced);
  const scaled = makeScaling(input.scale / output.scale ** (1 / count));
  const products = new Float64Array(output.data.length);
  const multiplying = reduce(
    { data: numbersIn(input.data), dimensions: input.dimensions },
    reduced,
    products,
    (product, element) => {
      const factor = element - input.zeroPoint;
      return Number.isNaN(product) ? factor : scaled(product * factor);
    },
  );
  const [least, greatest] = integerRange(output.type);
  return [
    // NaN: no factor yet.
    fillElements(products, Number.NaN),
    multiplying,
    store(output, (index) => clamp(scaled(products[index]) + output.zeroPoint, least, greatest)),
  ];
}

/** A product by a real number, with 16 bits of its precision, rounded halves up. */
function makeScaling(factor: number): (value: number) => number {
  const { mantissa, shift } = quantiseMultiplier(factor);
  const short = Math.min(Math.floor((mantissa + 2 ** 15) / 2 ** 16), 0x7fff);
  const divisor = 2 ** (15 - shift);
  return (value) => Math.floor((value * short) / divisor + 0.5);
}
