/**
 * REDUCE_PROD of integers and quantised elements, and of more than 4 axes. Integers wrap; a quantised product is rounded after each
 * factor, as the operator does.
 */
import { clamp, integerRange, type Phase } from "@nnhal/operations";
import { ensureElements, quantiseMultiplier, reduce } from "@nnhal/operations/kernels";
import { type AnyOutput, type AnyTensor, isPlain, isQuantised } from "../_elements.ts";
import { numbersIn } from "../_integers.ts";
import { tfliteTypes } from "../types.ts";
import { combineAll, type ReducedAxes, reduction, store } from "./_reduction.ts";

export const reduceProd = reduction("REDUCE_PROD", {
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
});

/** Each factor is scaled by the input's scale and a share of the output's, so that intermediate products fit into 32 bits. */
function quantisedProduct(input: AnyTensor, { reduced, count }: ReducedAxes, output: AnyOutput): readonly Phase[] {
  ensureElements(input.dimensions, reduced);
  const scaled = makeScaling(input.scale / output.scale ** (1 / count));
  // NaN: no factor yet.
  const products = new Float64Array(output.data.length).fill(Number.NaN);
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
  return [multiplying, store(output, (index) => clamp(scaled(products[index]) + output.zeroPoint, least, greatest))];
}

/** A product by a real number, with 16 bits of its precision, rounded halves up. */
function makeScaling(factor: number): (value: number) => number {
  const { mantissa, shift } = quantiseMultiplier(factor);
  const short = Math.min(Math.floor((mantissa + 2 ** 15) / 2 ** 16), 0x7fff);
  const divisor = 2 ** (15 - shift);
  return (value) => Math.floor((value * short) / divisor + 0.5);
}
