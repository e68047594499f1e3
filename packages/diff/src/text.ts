/** @nnhal/diff/text: numbers and names as reports write them. */
import { plain } from "@nnhal/utils";
import type { Difference } from "./difference.ts";

/** A number of things. */
export function formatCount(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** Extents in brackets. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}

/** A number of steps, which may lie between two. */
export function stepsText(steps: number): string {
  return Number.isInteger(steps) ? formatCount(steps, "step") : `${short(steps)} steps`;
}

/** Floats in real numbers, others in steps too. */
export function sizeText({
  isFloat,
  largest,
  largestReal,
}: Pick<Difference, "isFloat" | "largest" | "largestReal">): string {
  if (isFloat) return short(largestReal);
  const steps = stepsText(largest);
  return largest === largestReal ? steps : `${steps} (${short(largestReal)})`;
}

/** A part of a whole in percent. */
export function shareText(part: number, whole: number): string {
  if (part === 0) return "0 %";
  const share = (100 * part) / Math.max(1, whole);
  return share < 0.01 ? "<0.01 %" : `${share.toFixed(share < 10 ? 2 : 1)} %`;
}

/** A number with three digits. */
export function short(value: number): string {
  return numberText(value, 3);
}

/** A number with six digits. */
export function real(value: number): string {
  return numberText(value, 6);
}

/** A number with so many digits; a small one with its power of ten. */
export function numberText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(digits - 1).replace(/\.?0*e/, "e");
  return String(Number(value.toPrecision(digits)));
}

/** A number with its sign. */
export function formatSigned(value: number): string {
  const text = Math.abs(value) < 0.0005 ? "0" : short(value);
  return value > 0 && text !== "0" ? `+${text}` : text;
}

/** The first of the names that a converter has joined. */
export function firstName(name: string): string {
  return plain(name.split(";")[0] ?? name);
}
