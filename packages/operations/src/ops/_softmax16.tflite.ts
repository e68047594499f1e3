/**
 * SOFTMAX of 16-bit elements, in the integers of the operator: exp by a table over [-10, 0], and the reciprocal of the sum by another.
 */
import { clamp, multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { greatestOf, type Pass } from "./_lanes.ts";
import { tableOf } from "./_table.tflite.ts";

const [LEAST, GREATEST] = [-32768, 32767];
const RANGE = GREATEST - LEAST;
const fractions = { scale: 2 / RANGE, zeroPoint: 0 };

/** exp(x) for x in [-10, 0]: 32767 stands for 0. */
const exponential = tableOf({ scale: 10 / RANGE, zeroPoint: GREATEST }, fractions, Math.exp);
/** 1 / (1 + x) for x in [0, 1]: -32768 stands for 0. */
const reciprocal = tableOf({ scale: 1 / RANGE, zeroPoint: LEAST }, fractions, (x) => 1 / (1 + x));

/** Computes the shares along lanes, as fractions of 2^15. */
export function softmax16(input: AnyTensor, beta: number, output: AnyOutput): Pass[] {
  const multiplier = quantiseMultiplier((input.scale * beta * RANGE) / 10);
  const [source, target] = [numbersIn(input.data), numbersIn(output.data)];
  const saturate = (value: number) => clamp(value, LEAST, GREATEST);
  return [
    (piece, [greatest = LEAST]) => greatestOf(source, piece, greatest),
    ({ from, to, step }, [greatest, before = 0]) => {
      let sum = before;
      for (let at = from; at < to; at += step) {
        const below = multiplyByQuantisedMultiplier(source[at] - greatest, multiplier);
        target[at] = exponential(saturate(below + GREATEST));
        sum += target[at];
      }
      return sum;
    },
    ({ from, to, step }, [, sum]) => {
      // The sum as (1 + x) · 2^bits with x in [0, 1) of 16 bits.
      const bits = 31 - Math.clz32(sum);
      const mantissa = Math.floor((sum * 2 ** (30 - bits) + 2 ** 13) / 2 ** 14);
      const factor = reciprocal(saturate(mantissa - 2 ** 16 + LEAST));
      for (let at = from; at < to; at += step) {
        target[at] = clamp(Math.floor((target[at] * factor + 2 ** (bits - 1)) / 2 ** bits), 0, GREATEST);
      }
    },
  ];
}
