/**
 * The result of a conversion to an older HAL version: always a value, and the parts of the original that it cannot
 * express.
 */
import type { HalVersion } from "@nnhal/types";
import { describeNeed, isMetBy, type Need } from "../compliance/needs.ts";

/** A part that the version converted to cannot express: left out, or carried in a code that the version does not know. */
export interface Loss {
  /** Such as `main.operands[3].extraParams`. */
  readonly path: string;
  /** The part, and the HAL version that has it. */
  readonly message: string;
  /** The loss is harmless: the value still fits the version. An example is a permission that is not passed on. */
  readonly harmless: boolean;
}

/** A value converted to an older HAL version. */
export interface Conversion<Value> {
  readonly value: Value;
  /** Empty if the value expresses all of the original. */
  readonly lost: readonly Loss[];
}

/** Receives warnings, one line each. */
export type WarningSink = (warning: string) => void;

/** The losses of a conversion to a version, for needs that the version does not meet. */
export function lossesOf(needs: readonly Need[], version: HalVersion): Loss[] {
  return needs
    .filter((need) => !isMetBy(need, version))
    .map((need) => ({ path: need.path, message: describeNeed(need), harmless: false }));
}

/** Losses that do no harm. */
export function harmlessLoss(path: string, what: string, version: HalVersion | undefined): Loss {
  return { path, message: describeNeed({ path, what, version }), harmless: true };
}

/** Makes a conversion, and warns about its losses. */
export function conversion<Value>(
  what: string,
  version: HalVersion,
  value: Value,
  lost: readonly Loss[],
  warn: WarningSink | undefined,
): Conversion<Value> {
  if (warn !== undefined && lost.length > 0) {
    const shown = lost.slice(0, 3).map(({ message }) => message);
    if (lost.length > shown.length) shown.push(`and ${lost.length - shown.length} more`);
    warn(`converting ${what} to HAL ${version} loses something: ${shown.join("; ")}`);
  }
  return { value, lost };
}
