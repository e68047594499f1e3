/**
 * Differences between two results as the page writes them.
 */
import type { DiffReport } from "@nnhal/diff";
import { numberText } from "../text.ts";

type Difference = DiffReport["outputs"][number]["difference"];

/** The largest difference: in steps of the type, or of floats as a number. */
export function errorText({ isFloat, largest, largestReal, differing }: Difference): string {
  if (differing === 0) return "0";
  return isFloat ? numberText(largestReal, 3) : stepsText(numberText(largest, 3));
}

/** A number of steps of a type: `1 step`, `2.5 steps`. */
export function stepsText(count: string): string {
  return `${count} ${count === "1" ? "step" : "steps"}`;
}

/** The signal-to-noise ratio. */
export function noiseText({ signalToNoise, differing }: Difference): string {
  if (signalToNoise !== null) return `${numberText(signalToNoise, 3)} dB`;
  return differing === 0 ? "equal" : "–";
}

/** The element that is furthest off, with as many digits as tell the two values apart; empty if there is none. */
export function worstText({ worst }: Difference): string {
  if (worst === null) return "";
  const textOf = (value: number | null, digits: number) => (value === null ? "NaN" : numberText(value, digits));
  const digits =
    [4, 5, 6, 7, 8].find((each) => textOf(worst.expected, each) !== textOf(worst.actual, each)) ?? MOST_DIGITS;
  return `element ${worst.element}: ${textOf(worst.actual, digits)}, not ${textOf(worst.expected, digits)}`;
}

/** Digits that tell any two float32 apart. */
const MOST_DIGITS = 9;
