/**
 * Elements of 8 bits at their limits: each row has a pattern, so that one operation shows many combinations of activations and
 * weights.
 */
import { elementAt } from "@nnhal/operations";
import type { Random } from "../random/random.ts";

/**
 * The patterns of a row's elements. `greatest`, `least`: all that. `alternating`: the one and the other in turn. `either`: one
 * of the two at random. `mostly`: the same, except a tenth that are any number. `pair`: two neighbours at a limit, the others
 * at the zero point. `any`: any number.
 */
export const patterns = ["greatest", "least", "alternating", "either", "mostly", "pair", "any"] as const;
export type Pattern = (typeof patterns)[number];

/** A row of elements that are within limits. */
export function drawRow(
  pattern: Pattern,
  length: number,
  [least, greatest]: readonly [number, number],
  zeroPoint: number,
  random: Random,
): number[] {
  const limits = [greatest, least];
  const any = () => random.integer(least, greatest);
  const place = random.integer(0, Math.max(0, length - 2));
  const limit = random.pick(limits);
  const shift = random.integer(0, 1);
  return Array.from({ length }, (_, index) => {
    switch (pattern) {
      case "greatest":
        return greatest;
      case "least":
        return least;
      case "alternating":
        return elementAt(limits, (index + shift) % 2);
      case "either":
        return random.pick(limits);
      case "mostly":
        return random.chance(0.1) ? any() : random.pick(limits);
      case "pair":
        return index === place || index === place + 1 ? limit : zeroPoint;
      default:
        return any();
    }
  });
}
