/**
 * SOFTMAX of 16-bit elements, in the integers of the operator: exp by a table over [-10, 0], and the reciprocal of the sum by another.
 */
import { clamp, type Phase } from "@nnhal/operations";
import { boundsOf, type Lanes, multiplyByQuantisedMultiplier, quantiseMultiplier } from "@nnhal/operations/kernels";
import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { numbersIn } from "../_integers.ts";
import { tableOf } from "./_table.ts";

const [LEAST, GREATEST] = [-32768, 32767];
const RANGE = GREATEST - LEAST;
const fractions = { scale: 2 / RANGE, zeroPoint: 0 };

/** exp(x) for x in [-10, 0]: 32767 stands for 0. */
const exponential = tableOf({ scale: 10 / RANGE, zeroPoint: GREATEST }, fractions, Math.exp);
/** 1 / (1 + x) for x in [0, 1]: -32768 stands for 0. */
const reciprocal = tableOf({ scale: 1 / RANGE, zeroPoint: LEAST }, fractions, (x) => 1 / (1 + x));

/** Computes the shares along lanes, as fractions of 2^15. */
export function softmax16(input: AnyTensor, beta: number, lanes: Lanes, output: AnyOutput): Phase["compute"] {
  const multiplier = quantiseMultiplier((input.scale * beta * RANGE) / 10);
  const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
  const saturate = (value: number) => clamp(value, LEAST, GREATEST);
  const { step } = lanes;
  return (first, end) => {
    for (let lane = first; lane < end; lane++) {
      const [start, last] = boundsOf(lanes, lane);
      let greatest = LEAST;
      for (let at = start; at < last; at += step) greatest = Math.max(greatest, from[at]);
      let sum = 0;
      for (let at = start; at < last; at += step) {
        const below = multiplyByQuantisedMultiplier(from[at] - greatest, multiplier);
        to[at] = exponential(saturate(below + GREATEST));
        sum += to[at];
      }
      // The sum as (1 + x) · 2^bits with x in [0, 1) of 16 bits.
      const bits = 31 - Math.clz32(sum);
      const mantissa = Math.floor((sum * 2 ** (30 - bits) + 2 ** 13) / 2 ** 14);
      const factor = reciprocal(saturate(mantissa - 2 ** 16 + LEAST));
      for (let at = start; at < last; at += step) {
        to[at] = clamp(Math.floor((to[at] * factor + 2 ** (bits - 1)) / 2 ** bits), 0, GREATEST);
      }
    }
  };
}
