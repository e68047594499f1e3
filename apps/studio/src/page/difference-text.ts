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

/** The element that is furthest off; empty if there is none. */
export function worstText({ worst }: Difference): string {
  if (worst === null) return "";
  const [expected, actual] = [worst.expected, worst.actual].map((value) =>
    value === null ? "NaN" : numberText(value, 4),
  );
  return `element ${worst.element}: ${actual}, not ${expected}`;
}
